"""A connection that says whether its server has just answered, and a standby confirmed a COMMIT."""

import select
from time import monotonic
from typing import Any

from psycopg import AsyncConnection, OperationalError
from psycopg.abc import RV, PQGen
from psycopg.errors import Diagnostic
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

# The function that raises the warning in the server: its name does not depend on lc_messages.
_WAITED_IN = "SyncRepWaitForLSN"
FRESH_SECONDS = 5
"""Seconds after an answer in which a silent connection needs no statement to prove that it works.

TCP keepalives begin after as many.
"""


class NotReplicated(OperationalError):
    """The server committed, but stopped waiting for its standby: a failover may lose the commit."""


class DurableConnection(AsyncConnection[TupleRow]):
    """Raises NotReplicated if the server reports success and warns that the standby may lack it.

    That happens if the wait for a synchronous standby is cancelled.
    """

    _is_in_doubt = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._answered_at = monotonic()
        self.add_notice_handler(self._noticed)

    async def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        """Run an operation; all statements and COMMITs of the connection pass through here."""
        done = await super().wait(gen, *args, **kwargs)
        self._answered_at = monotonic()
        if self._is_in_doubt:
            self._is_in_doubt = False
            raise NotReplicated("committed without confirmation of the standby")
        return done

    async def commit(self) -> None:
        """Commit; a connection without a transaction, as each that returns to a pool, is ready."""
        if self.pgconn.transaction_status != TransactionStatus.IDLE:
            await super().commit()

    def is_fresh(self) -> bool:
        """Return whether the server has answered just now, and has sent nothing since.

        A server that ends a session says so or closes the socket; both can be read from it.
        """
        if self.closed or monotonic() - self._answered_at > FRESH_SECONDS:
            return False
        waiting = select.poll()
        waiting.register(self.pgconn.socket, select.POLLIN)
        return not waiting.poll(0)

    def _noticed(self, notice: Diagnostic) -> None:
        if notice.source_function == _WAITED_IN:
            self._is_in_doubt = True
