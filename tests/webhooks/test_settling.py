"""Settling deliveries: outcomes, their log, and the circuits of endpoints."""

from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.core.outcome import Defer, Outcome
from mailqueue.db.fetch import Conn
from mailqueue.queue import store as queue_store
from mailqueue.webhooks.handler import outcome_of
from mailqueue.webhooks.model import CallOutcome, CallResult, ClaimedDelivery
from mailqueue.webhooks.store import deliveries as store
from tests import make
from tests.webhooks.delivering import states, told, webhook
from tests.webhooks.settling import FAILED, SPEC, URL, claim, key, settle, settle_each

pytestmark = pytest.mark.anyio


async def test_a_late_worker_cannot_settle_a_delivery_it_lost(conn: Conn) -> None:
    """Fence: the lease ended and another worker has claimed it."""
    hook = await webhook(conn, URL)
    await told(conn)
    first = await claim(conn)
    await conn.execute("UPDATE mailqueue.workers SET beat_at = now() - interval '1 h'")
    await queue_store.rescue(conn, silence=timedelta(seconds=30))
    second = await claim(conn)

    late = [(first[0], outcome_of(first[0], FAILED))]
    assert await store.settle(conn, SPEC, late, [FAILED]) == ({first[0].id}, [])
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.webhook_attempts") == 0
    assert await key(conn, hook, "failures") is None
    assert second[0].attempts == 1, "a crash of ours takes no attempt from it"
    assert await states(conn, hook) == ["assigned"]
    assert await settle(conn, second, CallOutcome.DELIVERED, 200) == []
    assert await states(conn, hook) == ["delivered"]


async def test_calls_are_logged_of_the_claims_that_hold_alone(conn: Conn) -> None:
    """Of those that were lost nothing is written, nor of those that were not called."""
    hook = await webhook(conn, URL)
    await told(conn, 3)
    lost, uncalled, called = await claim(conn)
    await conn.execute(
        "UPDATE mailqueue.webhook_deliveries SET claim_no = claim_no + 1 WHERE id = %s", (lost.id,)
    )
    ended: list[tuple[ClaimedDelivery, Outcome]] = [
        (lost, outcome_of(lost, FAILED)),
        (uncalled, Defer("its key cannot be opened", timedelta(minutes=1))),
        (called, outcome_of(called, FAILED)),
    ]

    done = await store.settle(conn, SPEC, ended, [FAILED, None, FAILED])

    assert done == ({lost.id}, [])
    logged = await conn.execute("SELECT delivery_id, attempt FROM mailqueue.webhook_attempts")
    assert await logged.fetchall() == [(called.id, 1)]
    assert await key(conn, hook, "failures") == 1
    rows = await conn.execute(
        "SELECT id, status, attempts, last_error FROM mailqueue.webhook_deliveries ORDER BY id"
    )
    assert await rows.fetchall() == sorted(
        [
            (lost.id, "assigned", 1, None),
            (uncalled.id, "pending", 0, "its key cannot be opened"),
            (called.id, "pending", 1, "answered 500"),
        ]
    )


async def test_one_good_answer_ends_a_row_of_failures(conn: Conn) -> None:
    hook = await webhook(conn, URL)
    await told(conn, 9)
    batch = await claim(conn)
    await settle(conn, batch[:4], CallOutcome.FAILED)
    delivered = CallResult(CallOutcome.DELIVERED, datetime.now(UTC), 1, {}, code=200)

    await settle_each(conn, [(batch[4], delivered), *((one, FAILED) for one in batch[5:])])

    assert await key(conn, hook, "failures") == 4
    assert await key(conn, hook, "opened_at") is None
