"""The worker of a queue continues, or stops at once, whatever its handler does."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.core.errors import LeaseLost
from mailqueue.core.outcome import Outcome
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.process.child import ChildEnding
from mailqueue.process.pool import WorkerPool
from mailqueue.queue import running as running_module
from mailqueue.queue import store
from mailqueue.queue.handler import Call
from mailqueue.queue.in_progress import Begun, InProgress
from mailqueue.queue.running import DRAIN_SECONDS, run_worker
from mailqueue.queue.worker import QueueWorker
from mailqueue.settings.environment import DatabaseSettings, load_settings
from tests import make
from tests.queue.kernel.fake import (
    PATIENCE_SECONDS,
    ClaimedRow,
    FakeHandler,
    add_rows,
    states,
    until,
)
from tests.queue.working import work_once
from tests.webhooks.delivering import told, webhook

pytestmark = pytest.mark.anyio
SPEC = queue_named("inbound")


@pytest.mark.deep
@pytest.mark.parametrize("batch", [1, SPEC.batch])
async def test_an_idle_worker_claims_seldom(database: DatabaseSettings, batch: int) -> None:
    stop = asyncio.Event()
    async with connect(database) as conn:
        number = await make.worker(conn)
    spec = replace(SPEC, batch=batch, poll=(0.2, 1.0))
    working, claims = QueueWorker(database, spec, FakeHandler(), InProgress()), 0
    turn = working.turn

    async def counted(worker: int) -> int:
        nonlocal claims
        claims += 1
        return await turn(worker)

    working.turn = counted  # type: ignore[method-assign]
    running = asyncio.create_task(run_worker(working, stop, number))
    await asyncio.sleep(1.0)
    stop.set()
    await running
    assert 1 <= claims <= 5


@pytest.mark.deep
@pytest.mark.parametrize("notices", ["heartbeat", "claim"])
async def test_a_worker_declared_lost_starts_no_row_and_ends_those_it_has(
    database: DatabaseSettings, notices: str
) -> None:
    """The rows belong to others by then."""
    handler, stop = FakeHandler(), asyncio.Event()
    handler.go_on.clear()
    async with connect(database) as conn:
        await add_rows(conn, 20)
        number = await make.worker(conn)
        working = QueueWorker(database, SPEC, handler, InProgress())
        running = asyncio.create_task(run_worker(working, stop, number))
        await until(lambda: len(handler.begun) == SPEC.concurrency)
        if notices == "heartbeat":
            running.cancel()
        else:
            await conn.execute("UPDATE mailqueue.workers SET lost_at = now()")
            await add_rows(conn, 1)
        async with asyncio.timeout(DRAIN_SECONDS / 2):
            with pytest.raises((LeaseLost, asyncio.CancelledError)):
                await running
        await asyncio.sleep(0.1)

        assert len(handler.begun) == len(handler.ended) == SPEC.concurrency
        assert "processed" not in await states(conn)


@pytest.mark.deep
async def test_a_worker_that_is_not_heard_of_handles_nothing(database: DatabaseSettings) -> None:
    """Others may have been given its rows, and it would claim and return the same ones forever."""
    handler, stop, is_registered = FakeHandler(), asyncio.Event(), True
    handler.go_on.clear()
    async with connect(database) as conn:
        await add_rows(conn, 20)
        number = await make.worker(conn)
        working = QueueWorker(
            database, SPEC, handler, InProgress(), is_registered=lambda: is_registered
        )
        running = asyncio.create_task(run_worker(working, stop, number))
        await until(lambda: len(handler.begun) == SPEC.concurrency)
        is_registered = False
        handler.go_on.set()
        await asyncio.sleep(1)
        assert len(handler.begun) == SPEC.concurrency
        assert await states(conn) == {"processed": SPEC.concurrency, "pending": 12}
        assert await states(conn, "attempts > 0") == {"processed": SPEC.concurrency}
        is_registered = True
        await until(lambda: len(handler.ended) == 20)
        stop.set()
        await running
        assert await states(conn) == {"processed": 20}


async def test_a_row_that_is_not_loaded_fails_its_attempt(database: DatabaseSettings) -> None:
    class Forgetful(FakeHandler):
        async def load(self, conn: Conn, rows: Sequence[ClaimedRow]) -> Sequence[ClaimedRow]:  # noqa: ARG002
            return [row for row in rows if row.id != forgotten]

    async with connect(database) as conn:
        forgotten, *_ = await add_rows(conn, 3)
        await work_once(database, "inbound", Forgetful())
        assert await states(conn) == {"processed": 2, "pending": 1}
        assert await states(conn, "last_error IS NOT NULL AND attempts = 1") == {"pending": 1}


async def test_work_that_is_refused_fails_one_row(database: DatabaseSettings) -> None:
    handler = FakeHandler()
    async with connect(database) as conn:
        refused, *_ = await add_rows(conn, 3)
        handler.refused = {refused}
        await work_once(database, "inbound", handler)
        assert await states(conn) == {"processed": 2, "pending": 1}
        assert await states(conn, "last_error LIKE '%%of this row alone'") == {"pending": 1}


async def test_a_worker_outlives_what_its_handler_raises_beside_rows(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_module, "REST_SECONDS", 0.05)

    class Restless(FakeHandler):
        async def rest(self, call: Call) -> None:  # noqa: ARG002
            self.rests += 1
            raise RuntimeError("rest")

    handler, stop = Restless(), asyncio.Event()

    def has_ended(count: int) -> bool:
        return len(handler.ended) >= count

    def has_rested_since(rests: int) -> bool:
        return handler.rests > rests

    async with connect(database) as conn:
        number = await make.worker(conn)
        working = QueueWorker(database, SPEC, handler, InProgress())
        running = asyncio.create_task(run_worker(working, stop, number))
        for count in (2, 4):
            await add_rows(conn, 2)
            await until(partial(has_ended, count))
            await until(partial(has_rested_since, handler.rests))
        stop.set()
        await running
        assert await states(conn) == {"processed": 4}


@pytest.mark.deep
async def test_alone_holds_one_row_at_a_time(database: DatabaseSettings) -> None:
    """Others stay free for other hosts, and are not returned with each death."""
    handler, stop = FakeHandler(), asyncio.Event()
    handler.go_on.clear()
    async with connect(database) as conn:
        await add_rows(conn, 4, crashes=1)
        number = await make.worker(conn)
        working = QueueWorker(database, SPEC, handler, InProgress(), is_alone=True)
        running = asyncio.create_task(run_worker(working, stop, number))
        await until(lambda: handler.begun)
        await asyncio.sleep(0.5)
        assert await states(conn) == {"assigned": 1, "pending": 3}
        handler.go_on.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await running
        assert await states(conn) == {"processed": 4}


@pytest.mark.deep
async def test_alone_begins_no_row_before_the_last_one_is_settled(
    database: DatabaseSettings,
) -> None:
    """A process that dies meanwhile was ended by one row, not by one of two."""
    memory, may_write = InProgress(), asyncio.Event()

    class Writing(FakeHandler):
        async def commit(self, conn: Conn, done: Sequence[tuple[ClaimedRow, Any]]) -> list[Outcome]:
            await may_write.wait()
            return await super().commit(conn, done)

    handler = Writing()
    async with connect(database) as conn:
        await add_rows(conn, 2, crashes=1)
        number, stop = await make.worker(conn), asyncio.Event()
        working = QueueWorker(database, SPEC, handler, memory, is_alone=True)
        running = asyncio.create_task(run_worker(working, stop, number))
        await until(lambda: handler.ended)
        await asyncio.sleep(0.5)
        assert len(handler.begun) == 1
        assert [row.id for row in memory.rows()] == handler.begun
        may_write.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await running
        assert await states(conn) == {"processed": 2}


async def test_the_likeliest_to_have_ended_the_process_is_handled_last(
    database: DatabaseSettings,
) -> None:
    """The one in a long step, else the one that began last; the rows of others go on at once."""
    handler, memory = FakeHandler(), InProgress()
    async with connect(database) as conn:
        await add_rows(conn, 4)
        number = await make.worker(conn)
        claimed = await store.claim(conn, SPEC, ClaimedRow, worker=number, limit=4)
        slots = [memory.begin(SPEC.name, row.id, row.claim_no) for row in claimed[:3]]
        memory.begin(SPEC.name, claimed[3].id, claimed[3].claim_no, is_timed=False)
        expected = [claimed[0].id, claimed[2].id, claimed[1].id, claimed[3].id]
        memory.begin_step(slots[0])
        rows = memory.rows()
        assert [row.id for row in rows] == expected

        claims = [(row.id, row.claim_no) for row in rows]
        assert await store.suspect(conn, SPEC, claims, is_alone=False, reason="it died") == 4
        working = QueueWorker(database, SPEC, handler, InProgress(), is_alone=True)
        await run_worker(working, asyncio.Event(), number)
        assert handler.begun == expected[::-1]


@pytest.mark.deep
async def test_a_death_counts_for_known_queues_whatever_else_was_handled(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process may be of another release, or die while it writes a name."""
    monkeypatch.setenv("MAILQUEUE_DATABASE_URL", database.url.reveal())
    async with connect(database) as conn:
        await add_rows(conn, 1)
        number = await make.worker(conn)
        [claimed] = await store.claim(conn, SPEC, ClaimedRow, worker=number, limit=1)
        rows = [
            Begun("a_queue_of_tomorrow", uuid4(), 1, 0.0),
            Begun("inbound", claimed.id, claimed.claim_no, 0.0),
        ]
        pool = WorkerPool(load_settings(), [])
        await pool._report(ChildEnding(-35, None), rows, uuid4(), is_alone=False)
        await pool._link.close()
        assert await states(conn, "crashes = 1") == {"pending": 1}


async def test_rows_of_a_blocked_webhook_are_not_handled_alone(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        hook = await webhook(conn, "http://127.0.0.1:9999/")
        await told(conn, 1)
        await conn.execute("UPDATE mailqueue.webhook_deliveries SET crashes = 1")
        number = await make.worker(conn)
        spec = queue_named("webhooks")
        assert await store.suspected(conn, [spec.name]) == [spec.name]
        await conn.execute(
            "INSERT INTO mailqueue.queue_keys (queue, key, blocked_until)"
            " VALUES ('webhooks', %s, now() + interval '1 h')",
            (str(hook),),
        )
        assert await store.suspected(conn, [spec.name]) == []
        claim = store.claim(conn, spec, ClaimedRow, worker=number, limit=1, is_alone=True)
        assert await claim == []


async def test_a_claim_alone_reads_no_other_rows(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        await conn.execute("ALTER TABLE mailqueue.inbound_events SET (autovacuum_enabled = off)")
        await add_rows(conn, 20_000)
        number = await make.worker(conn)
        claim = (
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT"
            f" mailqueue.claim_inbound_events({number}, 1, '5 min', true, 0, '{{}}', '{{}}')"
        )
        await conn.execute(claim)
        [plan] = await make.scalar(conn, claim)
        assert plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"] < 20
