"""Lends connections to a standby that answers reports; to the primary while it does not."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from psycopg import OperationalError
from psycopg.errors import (
    InsufficientPrivilege,
    InvalidSchemaName,
    UndefinedColumn,
    UndefinedFunction,
    UndefinedTable,
)

from mailqueue.core.errors import Unavailable
from mailqueue.db.faults import unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, connect, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

WAIT_SECONDS = 3.0
"""Seconds that a report waits for a connection to the standby."""
AWAY_SECONDS = 30.0
"""Seconds for which reports go to the primary after the standby did not answer."""
BEHIND = (
    *(InvalidSchemaName, UndefinedTable, UndefinedColumn, UndefinedFunction),
    InsufficientPrivilege,
)
"""Errors of a standby that has yet to replay a migration, or is none of this database."""
APPLICATION = "mailqueue/reports"
LendConn = Callable[[], AbstractAsyncContextManager[Conn]]

log = get_logger(__name__)


class Replica:
    """A standby with a pool of its own."""

    def __init__(self, pool: Pool, settings: DatabaseSettings) -> None:
        self._pool = pool
        self._settings = settings
        self._away_until = 0.0
        self._asked: asyncio.Task[bool] | None = None

    @asynccontextmanager
    async def lend(self, primary: LendConn) -> AsyncIterator[Conn]:
        """Yield an autocommit connection to the standby, or the one that `primary` lends.

        Raises:
            Unavailable: all connections to the standby are in use, this one was lost, or it lacks
                what the report reads: the next report goes to the primary.
        """
        async with AsyncExitStack() as stack:
            conn = await self._connection(stack)
            if conn is None:
                yield await stack.enter_async_context(primary())
                return
            try:
                yield conn
            except OperationalError as exc:  # also a conflict with what the standby replays
                raise unavailable(exc, self._settings) from exc
            except BEHIND as exc:
                lacking = unavailable(exc, self._settings)
                self._leave(lacking)
                raise lacking from exc

    async def _connection(self, stack: AsyncExitStack) -> Conn | None:
        """Return a connection of the pool; None while the standby does not answer."""
        if time.monotonic() < self._away_until:
            return None
        if self._pool.get_stats()["pool_size"] == 0 and not await self._answers():
            return None
        try:
            return await stack.enter_async_context(self._pool.connection(WAIT_SECONDS))
        except OperationalError as exc:
            if await self._answers():
                raise unavailable(exc, self._settings) from exc
            return None

    async def _answers(self) -> bool:
        """Return whether the standby takes a connection; one is opened for all who ask together."""
        if self._asked is None or self._asked.done():
            self._asked = asyncio.create_task(self._ask())
        return await asyncio.shield(self._asked)

    async def _ask(self) -> bool:
        try:
            async with connect(self._settings, application_name=APPLICATION):
                return True
        except Unavailable as exc:
            self._leave(exc)
            return False

    def _leave(self, why: Unavailable) -> None:
        self._away_until = time.monotonic() + AWAY_SECONDS
        log.warning("replica.away", error=str(why), seconds=AWAY_SECONDS)


@asynccontextmanager
async def open_replica(settings: DatabaseSettings) -> AsyncIterator[Replica | None]:
    """Open the pool of the standby that answers reports; yield None if none is configured.

    The standby need not answer yet.
    """
    wanted = settings.for_reports
    if wanted is None:
        yield None
        return
    async with open_pool(
        wanted, application_name=APPLICATION, min_size=0, is_required=False
    ) as pool:
        yield Replica(pool, wanted)
