"""Views for operators read few pages, however much mail there is."""

from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, settle

pytestmark = pytest.mark.anyio

_HISTORY = """
INSERT INTO mailqueue.email_history (id, finished_at, project_id, lane_id, status, priority,
    attempts, max_attempts, created_at, recipients, unknowns, delivery, category, expires_at,
    recipient_email, content_id, content_on)
SELECT gen_random_uuid(), now() - interval '20 h' + n * interval '1 ms', h.project_id, h.lane_id,
       h.status, 2, 1, 100, h.created_at, 1, 0, 'resend', 'x', now(),
       'person' || n || '@example.com', h.content_id, h.content_on
  FROM mailqueue.email_history AS h, generate_series(1, 40000) AS n WHERE h.id = %s
"""
_QUEUE = """
INSERT INTO mailqueue.email_queue (id, project_id, project, lane_id, delivery, recipient_email,
    content_id, content_on)
SELECT gen_random_uuid(), h.project_id, NULL, h.lane_id, 'resend', 'person' || n || '@example.com',
       h.content_id, h.content_on
  FROM mailqueue.email_history AS h, generate_series(1, 20000) AS n WHERE h.id = %s
"""
_PAGES = """
SELECT sum(pg_relation_size(c.oid)) / 8192 FROM pg_class AS c
 WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind = 'r'
"""


async def much_mail(conn: Conn) -> UUID:
    """Create 40,000 finished mails, 20,000 queued ones, and one with a Cc; return its id."""
    await make.sender_account(conn)
    email = await make.queued_email(conn, cc=["carol@example.com"])
    await settle(conn, await claim(conn, await make.worker(conn)))
    await conn.execute(_HISTORY.encode(), (email,))
    await conn.execute(_QUEUE.encode(), (email,))
    await conn.execute("VACUUM ANALYZE mailqueue.email_history")
    await conn.execute("VACUUM ANALYZE mailqueue.email_queue")
    return email


async def pages_read(conn: Conn, query: str) -> int:
    [(plan,)] = await make.rows(conn, f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}")
    read: int = plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]
    return read


async def test_neither_health_nor_an_address_is_found_by_reading_all_mail(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        email = await much_mail(conn)
        pages = await make.scalar(conn, _PAGES)
        by_address = "SELECT * FROM mailqueue.recipient_history WHERE address = 'carol@example.com'"
        await make.rows(conn, "SELECT * FROM mailqueue.health")  # catalogues are read once

        for_health = await pages_read(conn, "SELECT * FROM mailqueue.health_of_mail()")
        found = await make.rows(conn, by_address)
        history = await pages_read(conn, by_address + " AND status = 'sent'")

    assert for_health * 3 < pages, f"{for_health} pages of {pages}"
    assert history * 2 < pages, f"{history} pages of {pages}"
    assert [row[2] for row in found] == [email]
