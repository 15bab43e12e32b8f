"""One connection that comes back: an operation is tried until the server has answered it."""

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

# A standby that is not promoted yet refuses to write; a session that took too long is ended. Both
# are errors of ours to psycopg.
_AWAY = (
    *(OperationalError, InterfaceError, ReadOnlySqlTransaction, Unavailable),
    *(IdleInTransactionSessionTimeout, TransactionTimeout),
)

log = get_logger(__name__)


class Link:
    """One connection, for one task at a time; a lost one is opened again, with growing pauses.

    Operations must be safe to repeat: the server may have committed what we did not hear of.
    """

    def __init__(self, settings: DatabaseSettings, name: str) -> None:
        self._settings = settings
        self._name = name
        self._conn: Conn | None = None
        self._turn = asyncio.Lock()
        self.is_down = False

    async def call(self, operation: Callable[[Conn], Awaitable[T]]) -> T:
        """Run the operation on the connection, again and again while the server is away."""
        async with self._turn:
            return await self._tried(operation)

    async def insist(self, operation: Callable[[Conn], Awaitable[T]], *, seconds: float) -> T:
        """Do as `call`; what a server refuses that is there is tried again for so long."""
        loop = asyncio.get_running_loop()
        last_at: float | None = None  # from the first refusal on: the server may be away before
        while True:
            try:
                return await self.call(operation)
            except Error as exc:
                if concerns_rows(exc):
                    raise  # the values are wrong, and stay so
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
                done = await operation(self._conn)
            except _AWAY as exc:
                await self.close()
                if concerns_rows(exc):
                    raise
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    # Cancelled, the driver sees its statement to the end and tells of that alone.
                    raise asyncio.CancelledError from exc
                self.is_down = True
                log.warning("database.unavailable", link=self._name, error=str(exc).splitlines()[0])
                await asyncio.sleep(wait)
                wait = min(LONGEST_WAIT, wait * 2)
            except BaseException:
                # Cancelled, or an error of ours: the connection's state is not known.
                await self.close()
                raise
            else:
                self.is_down = False
                return done

    def twin(self) -> "Link":
        """Return another link with the same settings and name, such as for another event loop."""
        return Link(self._settings, self._name)

    async def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._conn is not None:
            conn, self._conn = self._conn, None
            await conn.close()
