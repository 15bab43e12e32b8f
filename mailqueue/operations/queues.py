"""Operations on rows of the queues besides mail: list, explain, queue again, cancel."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.contract.infrastructure import QueueKey
from mailqueue.contract.operations import ExplainedRow, QueueRow, RowsChanged
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.operations.store import overview as overview_store
from mailqueue.operations.store import queues as store
from mailqueue.projects import manage as projects


async def list_(
    conn: Conn, queue: str, *, status: str | None, project: str | None, limit: int
) -> list[QueueRow]:
    """Return rows of a queue, newest first.

    Raises:
        NotFound: there is no such project.
    """
    if project is not None:
        await projects.find(conn, project)
    return await store.rows(conn, queue=queue, status=status, project=project, limit=limit)


async def keys(conn: Conn) -> list[QueueKey]:
    """Return the keys of queues that are in trouble, such as endpoints that keep failing."""
    return await store.keys(conn)


async def explain(conn: Conn, row_id: UUID) -> ExplainedRow:
    """Return a row of any queue besides mail and the reason for its state.

    Raises:
        NotFound: there is no such row.
    """
    found = await store.rows(conn, row_id=row_id)
    if not found:
        raise NotFound("row", row_id)
    return ExplainedRow(found[0], await overview_store.why(conn, row_id))


async def requeue(conn: Conn, ids: Sequence[UUID], *, by: str) -> list[RowsChanged]:
    """Queue rows again that failed or are held; return how many of each queue."""
    return await store.requeue(conn, ids, by=by)


async def cancel(conn: Conn, ids: Sequence[UUID], *, by: str) -> list[RowsChanged]:
    """Fail rows that wait; return how many of each queue."""
    return await store.cancel(conn, ids, by=by)
