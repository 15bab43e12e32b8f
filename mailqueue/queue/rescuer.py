"""Gives back, from time to time, what silent workers held."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.core.config import DatabaseSettings
from mailqueue.core.crashpoints import reach
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.lifeline import SILENCE

RESCUE_SECONDS = 5.0


@asynccontextmanager
async def rescuing(database: DatabaseSettings) -> AsyncIterator[None]:
    """Rescue beside the block, on a connection of its own."""
    link = Link(database, "mailqueue/rescue")
    task = asyncio.create_task(_rescue_forever(link), name="rescue")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await link.close()


async def _rescue_forever(link: Link) -> None:
    while True:
        await link.call(lambda conn: store.rescue(conn, silence=SILENCE))
        reach("rescue.committed")
        await asyncio.sleep(RESCUE_SECONDS)
