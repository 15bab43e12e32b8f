"""An idle worker behind a pooler polls; with a direct connection NOTIFY wakes it."""

import asyncio
from dataclasses import replace

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.link import Link
from mailqueue.queue.wakeup import Wakeup
from mailqueue.settings.environment import DatabaseSettings, Pooler
from tests.concurrency.running import until

pytestmark = pytest.mark.anyio


def bell(database: DatabaseSettings) -> tuple[Wakeup, Link]:
    link = Link(database, "test/bell")
    return Wakeup(database, link, queue="email_queue", worker=1), link


async def test_without_a_bell_a_worker_rests_between_looks_and_runs_on(
    database: DatabaseSettings,
) -> None:
    pooled = replace(database, pooler=Pooler.TRANSACTION, direct=None)
    ringing, link = bell(pooled)
    listening = asyncio.create_task(ringing.listen_forever())
    await ringing.park()
    await ringing.wait(0.01)

    assert ringing.is_parked, "it would look again and again without rest"
    assert not listening.done(), "the end of listening is the end of the worker"
    await ringing.unpark()
    assert not ringing.is_parked
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    await link.close()


async def test_a_direct_way_is_enough_to_hear_the_bell(database: DatabaseSettings) -> None:
    """The pooler need not even be running."""
    pooled = replace(
        database,
        url=Secret("postgresql://nobody@127.0.0.1:1/nowhere"),
        pooler=Pooler.TRANSACTION,
        direct=database.url,
    )
    ringing, _ = bell(pooled)
    listening = asyncio.create_task(ringing.listen_forever())

    async def hears() -> bool:
        return ringing._listener.is_listening

    await until(hears)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
