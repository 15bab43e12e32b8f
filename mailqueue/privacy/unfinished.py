"""Finish erasures that were begun elsewhere: by the API, or by a process that stopped."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from mailqueue.core.errors import MailqueueError
from mailqueue.db.pool import Pool, borrow
from mailqueue.maintenance import tasks
from mailqueue.maintenance.context import Desk, Stores
from mailqueue.privacy import erasing, store
from mailqueue.privacy.model import Progress
from mailqueue.privacy.persons import lending
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

LOOK_SECONDS = 30.0
_log = get_logger(__name__)


async def finish_all(desk: Desk, *, by: str, joins: bool = True) -> list[Progress]:
    """Go on with every erasure that is not at its end; return how far each is.

    One that another process is at is waited for with `joins`, else left to it.

    Raises:
        ArchiveBroken, Conflict, Unavailable: a file stands in the way; those before it are done.
    """
    return [
        await erasing.go_on(lending(desk.conn), each, desk=desk, by=by, joins=joins)
        for each in await store.unfinished(desk.conn)
    ]


@asynccontextmanager
async def keeping_erasures(
    pool: Pool, database: DatabaseSettings, stores: Callable[[], Stores]
) -> AsyncIterator[None]:
    """Look now and then, during a block, whether there is anything to finish, and do so.

    To look is one statement. What fails is logged, and tried again at the next look.
    """
    task = asyncio.create_task(_keep(pool, database, stores), name="erasures")
    try:
        yield
    finally:
        task.cancel()  # each step is a transaction, and whoever comes next goes on
        with suppress(asyncio.CancelledError):
            await task


async def _keep(pool: Pool, database: DatabaseSettings, stores: Callable[[], Stores]) -> None:
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            async with borrow(pool, database) as conn:
                is_any = bool(await store.unfinished(conn))
            if is_any:
                await _finish(database, stores())
        except MailqueueError as exc:
            _log.warning("erasures.failed", fault=str(exc))


async def _finish(database: DatabaseSettings, stores: Stores) -> None:
    opened = tasks.desk_of(database, stores, operator="mailqueue", advance=lambda _: None)
    async with opened as desk:
        for each in await finish_all(desk, by="mailqueue", joins=False):
            if each.is_elsewhere:
                continue
            _log.info("erasure.advanced", stage=each.erasure.stage, waiting=each.waiting)
