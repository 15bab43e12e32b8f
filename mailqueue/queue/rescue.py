"""Gives back, from time to time, what silent workers held; and pauses accounts that bounce."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.core.crashpoints import reach
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.heartbeat import SILENCE
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

RESCUE_SECONDS = 5.0
GRACE_SECONDS = 10.0
"""While the database was away nobody could beat: once it is back, all have so long to do it."""

log = get_logger(__name__)


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
        wait = await turn(link)
        await asyncio.sleep(wait)


async def turn(link: Link) -> float:
    """Rescue once, and return the seconds until the next time. What fails is tried again."""
    rescued = None
    try:
        rescued = await rescue_once(link)
        reach("rescue.committed")
    except Exception:  # whatever it is, it is in the log, and mail still has to come back
        log.exception("rescue.failed")
    return GRACE_SECONDS if rescued is None else RESCUE_SECONDS


async def rescue_once(link: Link) -> int | None:
    """Return back what silent workers held; return how many rows, None if the database was away."""

    async def rescue(conn: Conn) -> int | None:
        await store.watch_rates(conn)
        return None if link.is_down else await store.rescue(conn, silence=SILENCE)

    return await link.call(rescue)
