"""Returns the emails and rows of lost workers to their queues, pauses accounts with too many
bounces, and notes when accounts were last used.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from mailqueue.core.crashpoints import reach
from mailqueue.db.faults import OF_DATABASE
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.queue import store
from mailqueue.queue.heartbeat import LOST_AFTER
from mailqueue.queue.server_memory import ServerMemory
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

RESCUE_SECONDS = 5.0
USE_SECONDS = 60.0
"""Interval at which the last use of sender accounts is noted."""
LAST_LOOK_SECONDS = 2.0
"""Limit of the last comparison with the database, after the workers have ended."""
GRACE_SECONDS = 10.0
"""Time that workers have for a heartbeat after the database was unavailable."""

log = get_logger(__name__)


@asynccontextmanager
async def rescuing(database: DatabaseSettings, data: Path | None = None) -> AsyncIterator[None]:
    """Rescue emails and rows while the block runs, on a connection of its own.

    What was seen of the database is kept in the data folder.
    """
    link = Link(database, "mailqueue/rescue")
    memory = ServerMemory(data)
    task = asyncio.create_task(_rescue_forever(link, memory), name="rescue")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        # What the workers did last is seen too, if the database answers.
        with suppress(*OF_DATABASE, OSError):
            async with asyncio.timeout(LAST_LOOK_SECONDS):
                await _look(link, memory)
        await link.close()


async def _look(link: Link, memory: ServerMemory) -> None:
    memory.update(*await link.call(lambda conn: store.see_server(conn, memory.seen)))


async def _rescue_forever(link: Link, memory: ServerMemory) -> None:
    clock = asyncio.get_running_loop().time
    note_at = clock()
    while True:
        wait = await turn(link, memory)
        if clock() >= note_at:
            await note_use(link)
            note_at = clock() + USE_SECONDS
        await send_notices(link)
        await asyncio.sleep(wait)


async def turn(link: Link, memory: ServerMemory | None = None) -> float:
    """Rescue once; return the seconds until the next time. A failure is logged and retried.

    What was seen of the database is kept here as well: this process outlives its workers.
    """
    rescued = None
    try:
        if memory is not None:
            await _look(link, memory)
        rescued = await rescue_once(link)
        reach("rescue.committed")
    except Exception:  # rescue must go on
        log.exception("rescue.failed")
    return GRACE_SECONDS if rescued is None else RESCUE_SECONDS


async def note_use(link: Link) -> None:
    """Note when sender accounts were last used. A failure is logged; the next time notes it."""
    try:
        await link.call(store.note_sender_use)
    except Exception:  # rescue must go on
        log.exception("rescue.use_not_noted")


async def send_notices(link: Link) -> None:
    """Send new notices to administrators. A failure is logged; the next time sends them."""
    try:
        await link.call(store.send_notices)
    except Exception:  # rescue must go on
        log.exception("rescue.notices_not_sent")


async def rescue_once(link: Link) -> int | None:
    """Return the emails and rows of lost workers to their queues; return how many, None if the
    database was unavailable.
    """

    async def rescue(conn: Conn) -> int | None:
        await store.watch_rates(conn)
        return None if link.is_down else await store.rescue(conn, silence=LOST_AFTER)

    return await link.call(rescue)
