"""Due rows of a queue, and their expected state when they are done."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from uuid import UUID

from mailqueue.core.queues.model import QueueSpec
from mailqueue.db.fetch import Conn
from tests import make

DONE = "status = '{done}' AND attempts = 1 AND crashes = 0 AND worker_id IS NULL"


@dataclass(frozen=True, slots=True)
class Rows:
    """Due rows, the state of a finished one, and a check of their promises.

    `check` receives how many rows may have been handled twice.
    """

    spec: QueueSpec
    ids: list[UUID]
    check: Callable[[int], Awaitable[None]]
    finished: str

    async def unfinished(self, conn: Conn) -> list[str]:
        """Return the rows that are not finished, as text."""
        finished = self.finished.format(done=self.spec.done)
        found = await make.rows(
            conn,
            f"SELECT format('%%s %%s %%s %%s', id, status, crashes, last_error)"
            f" FROM mailqueue.{self.spec.table} WHERE id = ANY (%s) AND NOT ({finished})",
            self.ids,
        )
        return [row[0] for row in found]


Kind = Callable[[Conn, int], AbstractAsyncContextManager[Rows]]


async def ids_of(conn: Conn, spec: QueueSpec) -> list[UUID]:
    """Return the ids of all rows, oldest first."""
    query = f"SELECT id FROM mailqueue.{spec.table} ORDER BY run_at, id"
    return [row[0] for row in await make.rows(conn, query)]
