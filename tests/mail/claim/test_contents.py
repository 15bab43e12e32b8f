"""Flat: what a claim reads of the contents of its mails."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import LEASE, opened

pytestmark = pytest.mark.anyio
CLAIMED = 100
PAGES_A_CONTENT = 6
"""Pages of the index and the table that are read for one content, generously."""
CONTENTS = 6_000
"""They have some 900 pages."""


async def fill(conn: Conn, count: int) -> None:
    """Queue many mails with contents of their own, past the checks of accepting."""
    await conn.execute(
        "WITH content AS (INSERT INTO mailqueue.email_contents"
        " (created_on, project_id, subject, text_body)"
        " SELECT current_date, p.id, 'Hello', repeat('Hello', 200) || n"
        " FROM mailqueue.projects AS p, generate_series(1, %s) AS n WHERE p.name = 'default'"
        " RETURNING id, created_on), filled AS (INSERT INTO mailqueue.email_queue"
        " (project_id, project, lane_id, delivery, recipient_email, content_id, content_on)"
        " SELECT l.project_id, NULL, l.id, 'resend', 'ann@example.com', c.id, c.created_on"
        " FROM mailqueue.lanes AS l, mailqueue.projects AS p, content AS c"
        " WHERE p.id = l.project_id AND p.name = 'default' AND l.priority = 2 AND l.route = ''"
        " RETURNING lane_id, run_at) INSERT INTO mailqueue.lane_signals (lane_id, due_at, emails)"
        " SELECT lane_id, min(run_at), count(*) FROM filled GROUP BY lane_id",
        (count,),
    )


async def pages(conn: Conn) -> int:
    """Return how many pages of email_contents were read so far, from memory or disk."""
    await conn.execute("SELECT pg_stat_force_next_flush()")
    return int(
        await make.scalar(
            conn,
            "SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)"
            " FROM pg_statio_all_tables AS s JOIN pg_inherits AS i ON i.inhrelid = s.relid"
            " WHERE i.inhparent = 'mailqueue.email_contents'::regclass",
        )
    )


async def take(conn: Conn, worker: int) -> claims_store.Taken:
    await claims_store.gather_lanes(conn)
    return await claims_store.take(conn, worker, limit=CLAIMED, lease=LEASE)


async def test_a_claim_reads_only_its_contents_by_a_plan_made_while_there_were_few(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        worker = await make.worker(conn)
        for _ in range(8):  # more than a session needs to settle on a plan
            await fill(conn, 1)
            assert len((await take(conn, worker)).emails) == 1
        await fill(conn, CONTENTS)
        before = await pages(conn)

        taken = await take(conn, worker)

        assert taken.contents is not None
        assert taken.contents.keys() == {email.content_id for email in taken.emails}
        assert len(taken.contents) == CLAIMED
        assert await pages(conn) - before < CLAIMED * PAGES_A_CONTENT
