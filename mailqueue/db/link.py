"""A connection that is reopened when lost; an operation is retried until the server answers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from psycopg import Error, InterfaceError, OperationalError
from psycopg.errors import (
    IdleInTransactionSessionTimeout,
    ReadOnlySqlTransaction,
    TransactionTimeout,
)

from mailqueue.core.errors import Unavailable
from mailqueue.db.faults import concerns_rows
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import open_connection
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.telemetry.log import get_logger

T = TypeVar("T")
FIRST_WAIT, LONGEST_WAIT = 0.05, 2.0
REFUSED_WAIT = 0.5

# A standby that is not promoted yet refuses writes, and a session may reach a timeout. psycopg
# treats both as errors of the program.
_AWAY = (
    *(OperationalError, InterfaceError, ReadOnlySqlTransaction, Unavailable),
    *(IdleInTransactionSessionTimeout, TransactionTimeout),
)

log = get_logger(__name__)


class Link:
    """One connection, for one task at a time; reopened with growing pauses when it is lost.

    Operations must be safe to repeat: the server may have committed one whose response was lost.
    """

    def __init__(
        self,
        settings: DatabaseSettings,
        name: str,
        *,
        greeting: Callable[[Conn], Awaitable[None]] | None = None,
    ) -> None:
        """Prepare; `greeting` is run on each connection before its first operation."""
        self._settings = settings
        self._name = name
        self._greeting = greeting
        self._conn: Conn | None = None
        self._turn = asyncio.Lock()
        self.is_down = False
        self.losses = 0
        """How often the connection was lost or could not be opened."""

    async def call(self, operation: Callable[[Conn], Awaitable[T]]) -> T:
        """Run the operation on the connection, and repeat it while the server is unavailable."""
        async with self._turn:
            return await self._tried(operation)

    async def call_with_retries(
        self, operation: Callable[[Conn], Awaitable[T]], *, seconds: float
    ) -> T:
        """Run the operation as `call` does; errors of the server are retried for `seconds` too."""
        loop = asyncio.get_running_loop()
        # Begins with the first refusal: the server may be unavailable before.
        last_at: float | None = None
        while True:
            try:
                return await self.call(operation)
            except Error as exc:
                if concerns_rows(exc):
                    raise  # the values are wrong: a retry would fail too
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise asyncio.CancelledError from exc
                last_at = last_at or loop.time() + seconds
                if loop.time() >= last_at:
                    raise
                log.error("database.refused", link=self._name, error=str(exc).partition("\n")[0])
                await asyncio.sleep(REFUSED_WAIT)

    async def _tried(self, operation: Callable[[Conn], Awaitable[T]]) -> T:
        wait = FIRST_WAIT
        while True:
            try:
                if self._conn is None:
                    self._conn = await open_connection(self._settings, application_name=self._name)
                    if self._greeting is not None:
                        await self._greeting(self._conn)
                done = await operation(self._conn)
            except _AWAY as exc:
                await self.close()
                if concerns_rows(exc):
                    raise
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    # If cancelled, the driver waits for its statement and reports only that.
                    raise asyncio.CancelledError from exc
                self.is_down = True
                self.losses += 1
                log.warning("database.unavailable", link=self._name, error=str(exc).splitlines()[0])
                await asyncio.sleep(wait)
                wait = min(LONGEST_WAIT, wait * 2)
            except BaseException:
                # Cancelled or another error: the connection's state is unknown.
                await self.close()
                raise
            else:
                self.is_down = False
                return done

    def clone(self) -> "Link":
        """Return another link with the same settings and name, for use in another event loop."""
        return Link(self._settings, self._name)

    async def close(self) -> None:
        """Close the connection; the next call opens a new one."""
        if self._conn is not None:
            conn, self._conn = self._conn, None
            await conn.close()
