"""An error of the kernel's own loops, or of a step of a handler, leaves no row waiting."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import OperationalError
from psycopg.errors import InsufficientPrivilege

from mailqueue.core.outcome import Done, Failed, Outcome
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.db.pool import connect
from mailqueue.queue import heartbeat, settler, store, worker
from mailqueue.queue.heartbeat import LOST_AFTER, Heartbeat
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.running import run_worker
from mailqueue.queue.worker import QueueWorker
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.kernel.fake import ClaimedRow, FakeHandler, add_rows, states, until, until_states
from tests.queue.working import work_once

pytestmark = pytest.mark.anyio
SPEC = replace(queue_named("inbound"), lease=timedelta(hours=1))
"""Rows would wait for an hour if they waited for the end of their lease."""


@asynccontextmanager
async def working(database: DatabaseSettings, handler: FakeHandler) -> AsyncIterator[None]:
    """Have a worker work during a block."""
    stop = asyncio.Event()
    async with connect(database) as conn:
        number = await make.worker(conn)
    running = asyncio.create_task(
        run_worker(QueueWorker(database, SPEC, handler, InProgress()), stop, number)
    )
    try:
        yield
        assert not running.done(), "the worker goes on"
    finally:
        stop.set()
        await running


def once(call: Callable[..., Awaitable[Any]], fault: Exception) -> Callable[..., Awaitable[Any]]:
    """Return the function, which raises after its first call, whose answer is lost."""
    faults = [fault]

    async def called(*args: Any, **options: Any) -> Any:
        found = await call(*args, **options)
        if faults:
            raise faults.pop()
        return found

    return called


@pytest.mark.parametrize(
    "fault", [RuntimeError("ours"), OperationalError("lost"), InsufficientPrivilege("refused")]
)
async def test_rows_of_a_claim_whose_answer_is_lost_are_handled_at_once(
    fault: Exception, database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "claim", once(store.claim, fault))
    monkeypatch.setattr(worker, "REFUSED_SECONDS", 0.05)
    async with connect(database) as conn:
        await add_rows(conn, 5)
        async with working(database, FakeHandler()):
            await until_states(conn, {"processed": 5})
        assert await states(conn, "attempts = 1 AND crashes = 0") == {"processed": 5}


async def test_a_lost_claim_returns_no_row_that_is_being_handled(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = FakeHandler()
    handler.go_on.clear()
    async with connect(database) as conn:
        await add_rows(conn, 3)
        async with working(database, handler):
            await until(lambda: len(handler.begun) == 3)
            monkeypatch.setattr(store, "claim", once(store.claim, OperationalError("lost")))
            await add_rows(conn, 3)
            await until(lambda: len(handler.begun) == 6)
            handler.go_on.set()
            await until_states(conn, {"processed": 6})
    assert len(handler.begun) == len(set(handler.begun)) == 6


@pytest.mark.parametrize("is_work", [True, False])
async def test_outcomes_that_the_server_refused_are_written_again_at_once(
    is_work: bool, database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Finishing(FakeHandler):
        async def handle(self, row: ClaimedRow) -> Outcome | Any:
            found = await super().handle(row)
            return found if is_work else Done()

    handler, faults = Finishing(), [InsufficientPrivilege("refused")]
    settle = store.settle

    async def refused(*args: Any) -> set[UUID]:
        if faults:
            raise faults.pop()
        return await settle(*args)

    monkeypatch.setattr(store, "settle", refused)
    monkeypatch.setattr(settler, "RETRY_SECONDS", 0.0)
    async with connect(database) as conn:
        await add_rows(conn, 5)
        async with working(database, handler):
            await until_states(conn, {"processed": 5})
    assert len(handler.begun) == 5, "no row is handled again"


async def test_rows_of_a_worker_that_failed_return_at_once(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(settler, "next_group", broken)
    async with connect(database) as conn:
        await add_rows(conn, 5)
        number = await make.worker(conn)
        failed = QueueWorker(database, SPEC, FakeHandler(), InProgress())
        with pytest.raises(RuntimeError, match="ours"):
            await run_worker(failed, asyncio.Event(), number)
        assert await states(conn) == {"pending": 5}
        assert await states(conn, "attempts = 0") == {"pending": 5}


async def test_values_of_columns_that_the_queue_does_not_write_fail_the_row(
    database: DatabaseSettings,
) -> None:
    """A row's outcome is never written in part."""

    class Writing(FakeHandler):
        async def handle(self, row: ClaimedRow) -> Outcome | Any:
            if row.id == wrong[0]:
                return Done(values={"outcome": {}, "provider": "x"})
            return Failed("as told", values={"secret": 1}) if row.id == wrong[1] else Done()

    async with connect(database) as conn:
        wrong = await add_rows(conn, 2)
        await add_rows(conn, 3)
        await work_once(database, "inbound", Writing())
        assert await states(conn) == {"processed": 3, "pending": 2}
        told = "last_error LIKE '%%queue inbound writes no such columns: {}'"
        assert await states(conn, told.format("provider")) == {"pending": 1}
        assert await states(conn, told.format("secret")) == {"pending": 1}


async def test_a_row_whose_outcomes_are_refused_fails_at_once_and_the_others_go_on(
    database: DatabaseSettings,
) -> None:
    """Not when its lease ends, and by no end of the worker."""
    async with connect(database) as conn:
        refused, *_ = await add_rows(conn, 3)
        await conn.execute(
            "ALTER TABLE mailqueue.inbound_events ADD CONSTRAINT tried"
            f" CHECK (id <> '{refused}' OR status IN ('assigned', 'failed')) NOT VALID"
        )
        async with working(database, FakeHandler()):
            await until_states(conn, {"processed": 2, "failed": 1})
            await add_rows(conn, 1)
            await until_states(conn, {"processed": 3, "failed": 1})
        told = "last_error = 'its result cannot be written' AND finished_at IS NOT NULL"
        assert await states(conn, told) == {"failed": 1}


@dataclass(frozen=True)
class Unsized:
    """Work whose size cannot be told."""

    @property
    def size(self) -> int:
        raise RuntimeError("no size")


async def test_work_whose_size_cannot_be_told_fails_one_row(database: DatabaseSettings) -> None:
    class Sizing(FakeHandler):
        async def handle(self, row: ClaimedRow) -> Outcome | Any:
            return Unsized() if row.id == unsized else await super().handle(row)

    async with connect(database) as conn:
        unsized, *_ = await add_rows(conn, 3)
        await work_once(database, "inbound", Sizing())
        assert await states(conn) == {"processed": 2, "pending": 1}
        assert await states(conn, "last_error = 'RuntimeError: no size'") == {"pending": 1}


async def test_a_refused_load_returns_all_its_rows_and_is_tried_again(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "REFUSED_SECONDS", 0.05)

    class Loading(FakeHandler):
        loads = 0

        async def load(self, conn: Conn, rows: Sequence[ClaimedRow]) -> Sequence[ClaimedRow]:  # noqa: ARG002
            self.loads += 1
            if self.loads == 1:
                raise InsufficientPrivilege("refused")
            return rows

    async with connect(database) as conn:
        await add_rows(conn, 5)
        async with working(database, Loading()):
            await until_states(conn, {"processed": 5})
        assert await states(conn, "attempts = 1") == {"processed": 5}


@pytest.mark.parametrize("step", ["load", "commit"])
async def test_rows_are_noted_while_they_are_loaded_and_written(
    step: str, database: DatabaseSettings
) -> None:
    """A process that dies in either step was stopped by one of these rows."""
    memory, noted = InProgress(), dict[str, set[UUID]]()

    class Noting(FakeHandler):
        async def load(self, conn: Conn, rows: Sequence[ClaimedRow]) -> Sequence[ClaimedRow]:  # noqa: ARG002
            noted["load"] = {row.id for row in memory.rows()}
            return rows

        async def commit(self, conn: Conn, done: Sequence[tuple[ClaimedRow, Any]]) -> list[Outcome]:  # noqa: ARG002
            noted["commit"] = {row.id for row in memory.rows()}
            return [Done() for _ in done]

    async with connect(database) as conn:
        ids = await add_rows(conn, 3)
        number, stop = await make.worker(conn), asyncio.Event()
        running = asyncio.create_task(
            run_worker(QueueWorker(database, SPEC, Noting(), memory), stop, number)
        )
        await until_states(conn, {"processed": 3})
        stop.set()
        await running
    assert noted[step] == set(ids)
    assert memory.rows() == []


@pytest.mark.deep
async def test_a_process_that_waits_to_register_again_does_not_count_as_hung(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database may be away for longer than an event loop may stand still."""
    monkeypatch.setattr(heartbeat, "LOOP_CHECK_SECONDS", 0.01)
    memory, link = InProgress(), Link(database, "test/beat")
    one = Heartbeat(link, kind="send", launch_id=uuid4(), in_progress=memory)
    await one.start(asyncio.Event())
    await link._turn.acquire()  # the database does not answer
    waiting = asyncio.create_task(one.start(asyncio.Event()))
    await asyncio.sleep(0.5)
    silence = memory.seconds_since_turn()
    assert silence is not None
    assert silence < 0.4
    link._turn.release()
    await waiting
    await link.close()


async def test_a_row_that_refuses_every_change_keeps_no_other_row_of_its_worker(
    database: DatabaseSettings,
) -> None:
    """A constraint was added after the claim: leases, returns and deaths of others go on."""
    async with connect(database) as conn:
        refused, *others = await add_rows(conn, 5)
        number = await make.worker(conn)
        rows = await store.claim(conn, SPEC, ClaimedRow, worker=number, limit=10)
        claims = [(row.id, row.claim_no) for row in rows]
        await conn.execute(
            "ALTER TABLE mailqueue.inbound_events"
            f" ADD CONSTRAINT tried CHECK (id <> '{refused}') NOT VALID"
        )

        assert await store.renew(conn, SPEC, rows) == 4
        assert await store.release(conn, SPEC, number, held=others[:3]) == 1
        assert await states(conn) == {"assigned": 4, "pending": 1}
        suspects = [one for one in claims if one[0] in (refused, others[0])]
        assert await store.suspect(conn, SPEC, suspects, is_alone=False, reason="tried") == 1
        await make.silent(conn, number)
        assert await store.rescue(conn, silence=LOST_AFTER) == 2
        assert await states(conn) == {"assigned": 1, "pending": 4}
        assert await states(conn, "crashes = 1") == {"pending": 1}

        await conn.execute("ALTER TABLE mailqueue.inbound_events DROP CONSTRAINT tried")
        await conn.execute(
            "UPDATE mailqueue.inbound_events SET lease_until = now() - interval '1 s'"
        )
        assert await store.rescue(conn, silence=LOST_AFTER) == 1
        assert await states(conn) == {"pending": 5}
