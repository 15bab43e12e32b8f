"""A worker knows whether it may act, and stops when told to."""

import asyncio
import threading
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.core.errors import LeaseLost
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.queue import heartbeat as lifelines
from mailqueue.queue import store as kernel
from mailqueue.queue.heartbeat import LOST_AFTER, TRUSTED_SECONDS, Heartbeat
from mailqueue.queue.wakeup import Wakeup
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import lose, opened

pytestmark = pytest.mark.anyio


async def test_a_worker_that_was_declared_lost_learns_it_from_its_next_beat(
    database: DatabaseSettings,
) -> None:
    """Fence."""
    link = Link(database, "test/beat")
    lifeline = Heartbeat(link, kind="send", launch_id=uuid4())
    try:
        assert not lifeline.is_alive()
        await lifeline.start(asyncio.Event())
        await lifeline.beat()
        assert lifeline.is_alive()

        async with opened(database, 1) as (conn,):
            await lose(conn, lifeline.worker_id)

        with pytest.raises(LeaseLost):
            await lifeline.beat()
        assert not lifeline.is_alive()
        assert lifeline.is_lost
    finally:
        await link.close()


async def test_a_worker_whose_event_loop_is_held_up_goes_on_beating(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Isolate: a worker keeps its mail while it composes a large one."""
    beats, is_told = threading.Semaphore(0), threading.Event()
    beat = kernel.beat

    async def counted(conn: Conn, worker_id: int, **more: Any) -> kernel.Beat:
        answer = await beat(conn, worker_id, **more)
        beats.release()
        return answer._replace(is_known=answer.is_known and not is_told.is_set())

    monkeypatch.setattr(kernel, "beat", counted)
    monkeypatch.setattr(lifelines, "BEAT_SECONDS", 0.01)
    link = Link(database, "test/beat")
    lifeline = Heartbeat(link, kind="send", launch_id=uuid4())
    await lifeline.start(asyncio.Event())
    beating = asyncio.create_task(lifeline.beat_forever())
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    # The loop stands still from here on, until beats have come.
    assert all(beats.acquire(timeout=30) for _ in range(3))

    is_told.set()
    done, _ = await asyncio.wait((beating,), timeout=30)
    assert done
    assert beating.exception() is None
    assert lifeline.is_lost
    await link.close()


async def test_a_worker_whose_event_loop_hangs_for_good_is_not_kept_alive(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifelines, "HUNG_SECONDS", 0.0)
    monkeypatch.setattr(lifelines, "BEAT_SECONDS", 0.01)
    stuck = threading.Event()
    monkeypatch.setattr(lifelines.log, "error", lambda *_, **__: stuck.set())
    link = Link(database, "test/beat")
    lifeline = Heartbeat(link, kind="send", launch_id=uuid4())
    await lifeline.start(asyncio.Event())
    heard_at = lifeline._confirmed_at
    beating = asyncio.create_task(lifeline.beat_forever())

    assert await asyncio.to_thread(stuck.wait, 30)

    assert lifeline._confirmed_at == heard_at
    beating.cancel()
    await asyncio.wait((beating,), timeout=30)
    assert beating.cancelled()
    await link.close()


async def test_a_beat_waits_for_no_disk(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        worker = await make.worker(conn)
        launch = await make.scalar(conn, "SELECT launch_id FROM mailqueue.workers")
        await conn.execute("SET synchronous_commit = on")
        async with conn.transaction():
            answer = await kernel.beat(
                conn, worker, is_stopping=False, launch_id=launch, seen=None, marks=0
            )
            assert answer.is_known
            assert await make.scalar(conn, "SHOW synchronous_commit") == "off"


async def test_a_worker_stops_sending_well_before_others_take_its_mail() -> None:
    """Window: beats arrive late; what was started must be over before the rescue."""
    assert LOST_AFTER.total_seconds() * 0.75 > TRUSTED_SECONDS


async def test_a_worker_that_left_is_not_rescued(database: DatabaseSettings) -> None:
    link = Link(database, "test/beat")
    lifeline = Heartbeat(link, kind="send", launch_id=uuid4())
    await lifeline.start(asyncio.Event())
    await lifeline.stop()
    await link.close()

    async with opened(database, 1) as (conn,):
        await lose(conn, lifeline.worker_id)
        assert await make.rows(conn, "SELECT status FROM mailqueue.worker_status") == [("stopped",)]


@pytest.mark.parametrize("ticks", range(6))
async def test_a_cancel_that_meets_a_ring_still_ends_the_waiting(
    database: DatabaseSettings, ticks: int
) -> None:
    """Otherwise only a kill would end the worker."""
    link = Link(database, "test/bell")
    bell = Wakeup(database, link, queue="email_queue", worker=1)

    async def wait_forever() -> None:
        while True:
            await bell.wait(None)

    waiting = asyncio.create_task(wait_forever())
    await asyncio.sleep(0)
    bell.wake()
    for _ in range(ticks):
        await asyncio.sleep(0)
    waiting.cancel()

    done, _ = await asyncio.wait((waiting,), timeout=30)
    waiting.cancel()
    assert done


@pytest.mark.deep
async def test_a_worker_whose_database_is_gone_stops_when_told_to(
    database: DatabaseSettings,
) -> None:
    """It would otherwise try for ever, without a parent."""
    gone = replace(database, url=Secret("postgresql://mailqueue@127.0.0.1:1/gone"))
    lifeline, stop = (
        Heartbeat(Link(gone, "test/beat"), kind="send", launch_id=uuid4()),
        asyncio.Event(),
    )
    starting = asyncio.create_task(lifeline.start(stop))
    await asyncio.sleep(0.1)
    assert not starting.done()

    stop.set()

    assert await asyncio.wait_for(starting, 5) is False
