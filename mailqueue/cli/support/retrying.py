"""Retries of idempotent operations when the database becomes unavailable during a command."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from mailqueue.cli.support.app import Opened
from mailqueue.core.errors import StorageFull, Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import open_connection
from mailqueue.db.reported import reported

T = TypeVar("T")
PATIENCE_SECONDS = 60.0
"""Time for which the server, or its standby, may be unavailable before the command fails."""
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0


class RetryingDatabase:
    """Runs operations on a command's connection, and on a new one if that is lost or in doubt.

    For emails with idempotency keys only: a commit whose reply was lost may have happened.
    """

    def __init__(self, app: Opened) -> None:
        self._database = app.settings.database
        self._conn: Conn | None = app.conn
        self._mine: Conn | None = None

    async def call(self, operation: Callable[[Conn], Awaitable[T]]) -> T:
        """Run the operation, and retry it while the database is unavailable.

        Raises:
            Unavailable: the database was unavailable for a minute.
        """
        loop = asyncio.get_running_loop()
        deadline, wait = loop.time() + PATIENCE_SECONDS, _FIRST_WAIT
        while True:
            try:
                with reported(self._database):
                    return await operation(self._conn or await self._opened())
            except StorageFull:
                raise
            except Unavailable:
                await self.close()
                if loop.time() > deadline:
                    raise
            await asyncio.sleep(wait)
            wait = min(_LONGEST_WAIT, wait * 2)

    async def close(self) -> None:
        """Close the connection if it was opened here."""
        self._conn = None
        if self._mine is not None:
            mine, self._mine = self._mine, None
            await mine.close()

    async def _opened(self) -> Conn:
        conn = await open_connection(self._database, application_name="mailqueue/cli")
        self._conn = self._mine = conn
        return conn


@asynccontextmanager
async def retrying_database(app: Opened) -> AsyncIterator[RetryingDatabase]:
    """Yield a runner that retries operations within the block."""
    insistent = RetryingDatabase(app)
    try:
        yield insistent
    finally:
        await insistent.close()
