"""A claim of inboxes looks at those that are due, however many wait for their next scan."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio

ADD = """
WITH persons AS (
    INSERT INTO mailqueue.inbox_users (project_id, email)
    SELECT p.id, 'person' || n || '@example.com'
      FROM mailqueue.projects AS p, generate_series(1, %s) AS n WHERE p.name = 'default'
    RETURNING id, project_id, email
)
INSERT INTO mailqueue.mailboxes (project_id, user_id, provider, email_address, host, port, tls,
    username, sealed_password, folders, scan_seconds, run_at)
SELECT project_id, id, 'imap', email, 'imap.example.com', 993, 'implicit', email, '', '{INBOX}', 60,
       now() + interval '1 min'
  FROM persons
"""
DUE = """
UPDATE mailqueue.mailboxes SET run_at = now() - interval '1 s'
 WHERE id IN (SELECT id FROM mailqueue.mailboxes ORDER BY id LIMIT 3)
"""
READY = "SELECT key FROM mailqueue.ready_mailboxes(now())"


async def test_inboxes_that_wait_for_their_next_scan_cost_a_claim_nothing(conn: Conn) -> None:
    await conn.execute(ADD, (2000,))
    await conn.execute(DUE)
    await conn.execute("ANALYZE mailqueue.mailboxes")
    # As claims are planned.
    for method in ("seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort"):
        await conn.execute(f"SET LOCAL enable_{method} = off".encode())
    ((plan,),) = await make.rows(conn, f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {READY}")
    blocks = plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]

    assert len(await make.rows(conn, READY)) == 3
    assert blocks < 50
