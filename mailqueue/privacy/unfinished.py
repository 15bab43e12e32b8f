"""Finish erasures that were begun by the API, or by a process that stopped."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from mailqueue.core.errors import MailqueueError
from mailqueue.db.pool import Pool, borrow
from mailqueue.maintenance import tasks
from mailqueue.maintenance.context import MaintenanceContext, Stores
from mailqueue.privacy import erasing, store
from mailqueue.privacy.model import Progress
from mailqueue.privacy.persons import lending
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

LOOK_SECONDS = 30.0
_log = get_logger(__name__)


async def finish_all(desk: MaintenanceContext, *, by: str, joins: bool = True) -> list[Progress]:
    """Continue every erasure that is not done; return the progress of each.

    One that another process works on is awaited with `joins`, else skipped.

    Raises:
        ArchiveBroken, Conflict, Unavailable: a file cannot be read or written; erasures before it
            are done.
    """
    return [
        await erasing.go_on(lending(desk.conn), each, desk=desk, by=by, joins=joins)
        for each in await store.unfinished(desk.conn)
    ]


@asynccontextmanager
async def keeping_erasures(
    pool: Pool, database: DatabaseSettings, stores: Callable[[], Stores]
) -> AsyncIterator[None]:
    """Look for unfinished erasures at intervals during a block, and finish them.

    A look is one statement. An error is logged, and the erasure retried at the next look.
    """
    task = asyncio.create_task(_keep(pool, database, stores), name="erasures")
    try:
        yield
    finally:
        task.cancel()  # each step is a transaction, and the next process continues
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
