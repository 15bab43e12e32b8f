"""Flat: the cost of a claim does not grow with other rows."""

from collections.abc import Awaitable, Callable

import pytest
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import LEASE, claim, mark, opened, sent, settle

pytestmark = pytest.mark.anyio
CLAIMED = 100
PAGES_A_ROW = 25
"""Index entries, the row twice, counters and content of one claimed mail, rounded up."""
MARKS = 3_000
PAGES_A_MARK = 12
"""Found by an index, newest first; a plan by worker alone reads some hundred after that many
marks.
"""
SUPPRESSIONS = 20_000
PAGES_A_LOOK_UP = 20
"""Two indexes are descended a few times for an address; the list has some 480 pages."""
MESSAGE = {"subject": "Hello", "text": "Hello"}


async def fill(conn: Conn, count: int, *, due: str = "now() - interval '1 min'") -> None:
    """Queue many mails without ANALYZE and without the checks of accepting."""
    await conn.execute(
        "WITH filled AS (INSERT INTO mailqueue.email_queue"
        " (project_id, project, lane_id, delivery, recipient_email, content_id, content_on, run_at)"
        " SELECT l.project_id, NULL, l.id, 'resend',"
        f" 'p' || n || '@example.com', 1, current_date, {due}"
        " FROM mailqueue.lanes AS l, mailqueue.projects AS p, generate_series(1, %s) AS n"
        " WHERE p.id = l.project_id AND p.name = 'default' AND l.priority = 2 AND l.route = ''"
        " RETURNING lane_id, run_at) INSERT INTO mailqueue.lane_signals (lane_id, due_at, emails)"
        " SELECT lane_id, min(run_at), count(*) FROM filled GROUP BY lane_id",
        (count,),
    )


async def look_again(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.lanes SET blocked_until = now(), probed_at = '-infinity'")


async def pages(conn: Conn, table: str | None = None) -> int:
    """Return how many pages, of one table or all, were read so far, from memory or disk."""
    await conn.execute("SELECT pg_stat_force_next_flush()")
    return int(
        await make.scalar(
            conn,
            "SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)"
            " FROM pg_statio_all_tables"
            " WHERE schemaname = 'mailqueue' AND relname = coalesce(%s, relname)",
            table,
        )
    )


async def scanned(conn: Conn) -> int:
    """Return how many rows of the queue were read by sequential scans."""
    await conn.execute("SELECT pg_stat_force_next_flush()")
    seen = "SELECT seq_tup_read FROM pg_stat_all_tables WHERE relid = %s::regclass"
    return int(await make.scalar(conn, seen, "mailqueue.email_queue"))


async def claim_pages(conn: Conn, worker: int) -> tuple[int, int]:
    """Claim; return how many mails came and how many pages it took."""
    await claims_store.gather_lanes(conn)
    before, seen = await pages(conn), await scanned(conn)
    taken = await claims_store.claim(conn, worker, limit=CLAIMED, lease=LEASE)
    after = await pages(conn) - before
    assert await scanned(conn) == seen, "the claim walked through the queue"
    return len(taken), after


async def test_a_plan_made_while_the_queue_was_empty_serves_a_full_one(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        worker = await make.worker(conn)
        for _ in range(8):  # more than a session needs to settle on a plan
            await look_again(conn)
            assert await claim(conn, worker) == []
            await fill(conn, 1)
            await sent(conn, await claim(conn, worker))
        await fill(conn, 50_000)

        count, read = await claim_pages(conn, worker)

        assert count == CLAIMED
        assert read < CLAIMED * PAGES_A_ROW


async def test_mail_due_later_costs_a_claim_nothing(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        worker = await make.worker(conn)
        await fill(conn, 30_000, due="now() + interval '1 week'")
        await fill(conn, 200)

        count, read = await claim_pages(conn, worker)

        assert count == CLAIMED
        assert read < CLAIMED * PAGES_A_ROW


async def test_blocked_lanes_cost_a_claim_nothing(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        worker = await make.worker(conn)
        await conn.execute(
            "INSERT INTO mailqueue.projects (name)"
            " SELECT 'p' || n FROM generate_series(1, 300) AS n"
        )
        await conn.execute(
            "UPDATE mailqueue.lanes SET blocked_until = 'infinity', blocked_reason = 'daily_limit'"
            " WHERE route = ''"
        )
        await make.sender_account(conn)
        await fill(conn, 200)

        count, read = await claim_pages(conn, worker)

        assert count == CLAIMED
        assert read < CLAIMED * PAGES_A_ROW


async def test_marking_and_settling_read_only_their_rows(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        worker = await make.worker(conn)
        await fill(conn, 20_000)
        taken = await claim(conn, worker, limit=CLAIMED)
        before = await pages(conn)

        await mark(conn, worker, taken)

        assert await pages(conn) - before < CLAIMED * PAGES_A_ROW


async def test_a_mark_costs_the_same_after_thousands_under_a_held_snapshot(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 2) as (conn, holder), holder.transaction():
        await holder.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        worker = await make.worker(conn)
        await holder.execute("SELECT count(*) FROM mailqueue.send_intents")
        await conn.execute(
            "DO $$ BEGIN FOR n IN 1.." + str(MARKS) + " LOOP PERFORM mailqueue.mark_emails("
            f"{worker}, ARRAY[gen_random_uuid()], '{{1}}', '{{}}', '{{}}'); COMMIT;"
            " END LOOP; END $$"
        )
        before = await pages(conn, "send_intents")

        await conn.execute(
            "SELECT mailqueue.mark_emails(%s, ARRAY[gen_random_uuid()], '{1}', '{}', '{}')",
            (worker,),
        )

        assert await pages(conn, "send_intents") - before < PAGES_A_MARK
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.send_intents") == 1


async def test_settling_reads_no_recipients_of_other_mail(database: DatabaseSettings) -> None:
    """Also with a plan made while no mail had several recipients."""
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        worker = await make.worker(conn)
        await conn.execute("VACUUM ANALYZE mailqueue.email_recipients")  # known to be empty
        for ending in (Ending.SENT, Ending.FAILED) * 8:
            await fill(conn, 1)
            await settle(conn, await claim(conn, worker), ending)
        await conn.execute(
            "INSERT INTO mailqueue.email_recipients (email_id, position, kind, address, project_id)"
            " SELECT gen_random_uuid(), 0, 'to', 'ann@example.com', p.id"
            " FROM mailqueue.projects AS p, generate_series(1, 20000) WHERE p.name = 'default'"
        )
        await fill(conn, 2)
        sent, failed = await claim(conn, worker)
        before = await pages(conn)

        await settle(conn, [sent])
        await settle(conn, [failed], Ending.FAILED)

        assert await pages(conn) - before < 4 * PAGES_A_ROW


async def accept_by_insert(conn: Conn, address: str) -> None:
    await make.queued_email(conn, recipient_email=address)


async def accept_by_function(conn: Conn, address: str) -> None:
    query = "SELECT mailqueue.enqueue(recipient => %s, subject => 'Hello', text => 'Hello')"
    await conn.execute(query.encode(), (address,))


async def accept_batch(conn: Conn, address: str) -> None:
    await enqueue_batch(conn, [{"recipient": address, **MESSAGE}])


async def accept_copies(conn: Conn, address: str) -> None:
    await enqueue_batch(conn, [{"recipient": address, "cc": [f"cc.{address}"], **MESSAGE}])


async def enqueue_batch(conn: Conn, messages: list[dict[str, object]]) -> None:
    query = "SELECT count(*) FROM mailqueue.enqueue_batch('default', %s)"
    await conn.execute(query.encode(), (Jsonb(messages),))


async def suppress_many(conn: Conn) -> None:
    """Fill the list of suppressions, of which PostgreSQL has no statistics then."""
    await conn.execute(
        "INSERT INTO mailqueue.suppressions (project_id, address, reason)"
        " SELECT p.id, 'stopped' || n || '@example.com', 'manual'"
        " FROM mailqueue.projects AS p, generate_series(1, %s) AS n WHERE p.name = 'default'",
        (SUPPRESSIONS,),
    )


@pytest.mark.parametrize(
    "accept", [accept_by_insert, accept_by_function, accept_batch, accept_copies]
)
async def test_accepting_with_a_plan_made_before_there_were_suppressions_reads_few(
    database: DatabaseSettings, accept: Callable[[Conn, str], Awaitable[None]]
) -> None:
    async with opened(database, 1) as (conn,):
        for n in range(8):  # more than a session needs to settle on a plan
            await accept(conn, f"ann{n}@example.com")
        await suppress_many(conn)
        before = await pages(conn, "suppressions")

        await accept(conn, "bob@example.com")

        assert await pages(conn, "suppressions") - before < 2 * PAGES_A_LOOK_UP


async def test_marking_with_a_plan_made_before_there_were_suppressions_reads_few(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        worker = await make.worker(conn)
        await accept_by_insert(conn, "ann@example.com")
        taken = await claim(conn, worker)
        for _ in range(8):
            await mark(conn, worker, taken)
        await suppress_many(conn)
        before = await pages(conn, "suppressions")

        await mark(conn, worker, taken)

        assert await pages(conn, "suppressions") - before < PAGES_A_LOOK_UP
