"""A connection on which a COMMIT that its standby has not confirmed counts as not answered."""

import asyncio
from contextlib import suppress
from typing import Any

from psycopg import AsyncConnection, Error, OperationalError
from psycopg.abc import RV, PQGen
from psycopg.errors import Diagnostic
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from mailqueue.db.reading import Reading

# What raises the warning in the server: its words depend on lc_messages, its name does not.
_WAITED_IN = "SyncRepWaitForLSN"
_CANCEL_SECONDS = 5.0


class NotReplicated(OperationalError):
    """The server committed and gave up waiting for its standby: a failover may lose it."""


class DurableConnection(AsyncConnection[TupleRow]):
    """Raises NotReplicated where the server says success and warns that the standby may lack it.

    That happens when the wait for a synchronous standby is cancelled.
    """

    _is_in_doubt = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.add_notice_handler(self._noticed)

    async def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        """Run an operation, as every statement and COMMIT of the connection is run."""
        if args or kwargs:  # it may end before it is done
            done = await super().wait(gen, *args, **kwargs)
        else:
            done = await self._read(gen)
        if self._is_in_doubt:
            self._is_in_doubt = False
            raise NotReplicated("committed without the standby")
        return done

    async def _read(self, gen: PQGen[RV]) -> RV:
        """Run an operation that as a rule has been sent, and only reads what comes back."""
        reading = Reading(gen)
        try:
            await reading.ended(self.pgconn.socket)
        except asyncio.CancelledError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                await self.cancel_safe(timeout=_CANCEL_SECONDS)
                with suppress(Error):
                    await super().wait(reading.rest(), timeout=_CANCEL_SECONDS)
            raise
        return await super().wait(reading.rest())

    def _noticed(self, notice: Diagnostic) -> None:
        if notice.source_function == _WAITED_IN:
            self._is_in_doubt = True
