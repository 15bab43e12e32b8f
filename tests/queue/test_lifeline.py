"""A worker knows whether it may act, and one that is told to stop does."""

import asyncio
from uuid import uuid4

import pytest

from mailqueue.core.config import DatabaseSettings
from mailqueue.core.errors import LeaseLost
from mailqueue.db.link import Link
from mailqueue.queue import store as kernel
from mailqueue.queue.doorbell import Doorbell
from mailqueue.queue.lifeline import SILENCE, TRUSTED_SECONDS, Lifeline
from tests import make
from tests.queue.acting import lose, opened

pytestmark = pytest.mark.anyio


async def test_a_worker_that_was_declared_lost_learns_it_from_its_next_beat(
    database: DatabaseSettings,
) -> None:
    """Fence."""
    link = Link(database, "test/beat")
    lifeline = Lifeline(link, kind="send", launch_id=uuid4())
    try:
        assert not lifeline.is_alive()
        await lifeline.start()
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


async def test_a_beat_waits_for_no_disk(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        worker = await make.worker(conn)
        await conn.execute("SET synchronous_commit = on")
        async with conn.transaction():
            assert await kernel.beat(conn, worker, is_stopping=False)
            assert await make.scalar(conn, "SHOW synchronous_commit") == "off"


async def test_a_worker_stops_sending_well_before_others_take_its_mail() -> None:
    """Window: beats are heard late; what was started must be over when the rescue comes."""
    assert SILENCE.total_seconds() * 0.75 > TRUSTED_SECONDS


async def test_a_worker_that_left_is_not_rescued(database: DatabaseSettings) -> None:
    link = Link(database, "test/beat")
    lifeline = Lifeline(link, kind="send", launch_id=uuid4())
    await lifeline.start()
    await lifeline.stop()
    await link.close()

    async with opened(database, 1) as (conn,):
        await lose(conn, lifeline.worker_id)
        assert await make.rows(conn, "SELECT status FROM mailqueue.worker_status") == [("stopped",)]


@pytest.mark.parametrize("ticks", range(6))
async def test_a_cancel_that_meets_a_ring_still_ends_the_waiting(
    database: DatabaseSettings, ticks: int
) -> None:
    """A stop that is swallowed leaves a worker that nothing but a kill ends."""
    link = Link(database, "test/bell")
    bell = Doorbell(database, link, queue="email_queue", worker=1)

    async def wait_forever() -> None:
        while True:
            await bell.wait(None)

    waiting = asyncio.create_task(wait_forever())
    await asyncio.sleep(0)
    bell.ring()
    for _ in range(ticks):
        await asyncio.sleep(0)
    waiting.cancel()

    done, _ = await asyncio.wait((waiting,), timeout=30)
    waiting.cancel()
    assert done
