"""Returns the emails and rows of lost workers to their queues, and pauses accounts with too many
bounces.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.core.crashpoints import reach
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.heartbeat import LOST_AFTER
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

RESCUE_SECONDS = 5.0
GRACE_SECONDS = 10.0
"""Time that workers have for a heartbeat after the database was unavailable."""

log = get_logger(__name__)


@asynccontextmanager
async def rescuing(database: DatabaseSettings) -> AsyncIterator[None]:
    """Rescue emails and rows while the block runs, on a connection of its own."""
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
    """Rescue once; return the seconds until the next time. A failure is logged and retried."""
    rescued = None
    try:
        rescued = await rescue_once(link)
        reach("rescue.committed")
    except Exception:  # rescue must go on
        log.exception("rescue.failed")
    return GRACE_SECONDS if rescued is None else RESCUE_SECONDS


async def rescue_once(link: Link) -> int | None:
    """Return the emails and rows of lost workers to their queues; return how many, None if the
    database was unavailable.
    """

    async def rescue(conn: Conn) -> int | None:
        await store.watch_rates(conn)
        return None if link.is_down else await store.rescue(conn, silence=LOST_AFTER)

    return await link.call(rescue)
