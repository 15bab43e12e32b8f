"""Flat: claiming and settling rows of a queue costs the same whatever lies around them."""

from datetime import UTC, datetime

import pytest

from mailqueue.core.outcome import Done
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.db.statements import webhooks as sql
from mailqueue.queue import store
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.webhooks.model import CallOutcome, CallResult, ClaimedDelivery
from mailqueue.webhooks.store import deliveries
from tests import make
from tests.webhooks.delivering import told, webhook

pytestmark = pytest.mark.anyio
SPEC = queue_named("webhooks")
ROWS = 100
FINISHED = 20_000
PENDING = 20_000
"""Of one key, and due at the same time, as an INSERT of many makes them."""
PAGES_A_ROW = 50
"""Index entries and versions of a delivery that is claimed, settled and logged, generously."""
DELIVERED = CallResult(CallOutcome.DELIVERED, datetime.now(UTC), 3, {"webhook-id": "1"}, code=204)


async def fill(conn: Conn, count: int, status: str, run_at: str) -> None:
    """Copy a delivery many times."""
    await conn.execute(
        "INSERT INTO mailqueue.webhook_deliveries"
        " (id, project_id, webhook_id, event_id, type, status, run_at, finished_at)"
        " SELECT gen_random_uuid(), d.project_id, d.webhook_id, d.event_id, d.type,"
        f" '{status}', {run_at}, CASE WHEN '{status}' = 'delivered' THEN now() END"
        " FROM (SELECT * FROM mailqueue.webhook_deliveries LIMIT 1) AS d, generate_series(1, %s)",
        (count,),
    )


async def pages(conn: Conn) -> int:
    """Return how many pages were read so far, from memory or disk."""
    await conn.execute("SELECT pg_stat_force_next_flush()")
    return int(
        await make.scalar(
            conn,
            "SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)"
            " FROM pg_statio_all_tables WHERE schemaname = 'mailqueue'",
        )
    )


async def turn(conn: Conn, worker: int, hook: object) -> int:
    """Claim and settle; return how many rows."""
    rows = await store.claim(
        conn,
        SPEC,
        ClaimedDelivery,
        worker=worker,
        limit=ROWS,
        first=ROWS,
        rooms={str(hook): ROWS},
        loading=sql.CLAIM_WEBHOOK_CALLS,
    )
    ended = [(row, Done(values={"last_code": 204})) for row in rows]
    lost, _ = await deliveries.settle(conn, SPEC, ended, [DELIVERED] * len(rows))
    assert not lost
    return len(rows)


async def test_claiming_and_settling_cost_the_same_in_a_full_table(
    database: DatabaseSettings,
) -> None:
    """Also by plans made while the table was nearly empty."""
    async with connect(database) as conn:
        hook = await webhook(conn, "http://127.0.0.1:8080/hooks")
        worker = await make.worker(conn)
        for _ in range(8):  # more than a session needs to settle on a plan
            await told(conn)
            assert await turn(conn, worker, hook) == 1
        await fill(conn, FINISHED, "delivered", "now()")
        await fill(conn, 1000, "pending", "'infinity'")
        await fill(conn, PENDING, "pending", "now() - interval '1 min'")
        before = await pages(conn)

        assert await turn(conn, worker, hook) == ROWS

        assert await pages(conn) - before < ROWS * PAGES_A_ROW
