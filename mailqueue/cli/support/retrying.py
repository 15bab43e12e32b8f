"""Repeats what is safe to repeat where the database goes away in the middle of a command."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from mailqueue.cli.support.app import Opened
from mailqueue.core.errors import NoRoom, Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import open_connection
from mailqueue.db.reported import reported

T = TypeVar("T")
PATIENCE_SECONDS = 60.0
"""So long a server may be away, or its standby without a word, before the command gives up."""
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0


class Insistent:
    """Works on a command's connection, and on a new one where that is lost or in doubt.

    For mail with idempotency keys: a commit whose answer was lost may have happened.
    """

    def __init__(self, app: Opened) -> None:
        self._database = app.settings.database
        self._conn: Conn | None = app.conn
        self._mine: Conn | None = None

    async def call(self, operation: Callable[[Conn], Awaitable[T]]) -> T:
        """Run the operation until it is answered.

        Raises:
            Unavailable: for a minute it was not.
        """
        loop = asyncio.get_running_loop()
        deadline, wait = loop.time() + PATIENCE_SECONDS, _FIRST_WAIT
        while True:
            try:
                with reported(self._database):
                    return await operation(self._conn or await self._opened())
            except NoRoom:
                raise
            except Unavailable:
                await self.close()
                if loop.time() > deadline:
                    raise
            await asyncio.sleep(wait)
            wait = min(_LONGEST_WAIT, wait * 2)

    async def close(self) -> None:
        """Close what was opened here."""
        self._conn = None
        if self._mine is not None:
            mine, self._mine = self._mine, None
            await mine.close()

    async def _opened(self) -> Conn:
        conn = await open_connection(self._database, application_name="mailqueue/cli")
        self._conn = self._mine = conn
        return conn


@asynccontextmanager
async def insisting(app: Opened) -> AsyncIterator[Insistent]:
    """Insist for the length of a block."""
    insistent = Insistent(app)
    try:
        yield insistent
    finally:
        await insistent.close()
