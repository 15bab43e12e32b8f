"""A connection that raises an error if a standby has not confirmed a COMMIT."""

from typing import Any

from psycopg import AsyncConnection, OperationalError
from psycopg.abc import RV, PQGen
from psycopg.errors import Diagnostic
from psycopg.rows import TupleRow

# The function that raises the warning in the server: its name does not depend on lc_messages.
_WAITED_IN = "SyncRepWaitForLSN"


class NotReplicated(OperationalError):
    """The server committed, but stopped waiting for its standby: a failover may lose the commit."""


class DurableConnection(AsyncConnection[TupleRow]):
    """Raises NotReplicated if the server reports success and warns that the standby may lack it.

    That happens if the wait for a synchronous standby is cancelled.
    """

    _is_in_doubt = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.add_notice_handler(self._noticed)

    async def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        """Run an operation; all statements and COMMITs of the connection pass through here."""
        done = await super().wait(gen, *args, **kwargs)
        if self._is_in_doubt:
            self._is_in_doubt = False
            raise NotReplicated("committed without confirmation of the standby")
        return done

    def _noticed(self, notice: Diagnostic) -> None:
        if notice.source_function == _WAITED_IN:
            self._is_in_doubt = True
