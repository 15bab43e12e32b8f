"""A connection on which a COMMIT that its standby has not confirmed counts as not answered."""

from typing import Any

from psycopg import AsyncConnection, OperationalError
from psycopg.abc import RV, PQGen
from psycopg.errors import Diagnostic
from psycopg.rows import TupleRow

# What raises the warning in the server: its words depend on lc_messages, its name does not.
_WAITED_IN = "SyncRepWaitForLSN"


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
        done = await super().wait(gen, *args, **kwargs)
        if self._is_in_doubt:
            self._is_in_doubt = False
            raise NotReplicated("committed without the standby")
        return done

    def _noticed(self, notice: Diagnostic) -> None:
        if notice.source_function == _WAITED_IN:
            self._is_in_doubt = True
