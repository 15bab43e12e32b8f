"""SQL of the queues besides mail, for operators."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.contract.admin import QueueState
from mailqueue.contract.infrastructure import QueueKey
from mailqueue.contract.operations import QueueRow, RowsChanged
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn


async def states(conn: Conn) -> list[QueueState]:
    """Return the state of each queue."""
    return await fetch.many(conn, "list_queue_states", None, QueueState)


async def rows(
    conn: Conn,
    *,
    queue: str | None = None,
    status: str | None = None,
    project: str | None = None,
    row_id: UUID | None = None,
    limit: int = 1,
) -> list[QueueRow]:
    """Return rows of one queue or of all, newest first, at most `limit` of each queue."""
    values = {"queue": queue, "status": status, "project": project, "id": row_id, "limit": limit}
    return await fetch.many(conn, "list_queue_rows", values, QueueRow)


async def keys(conn: Conn) -> list[QueueKey]:
    """Return the keys that are in trouble."""
    return await fetch.many(conn, "list_queue_keys", None, QueueKey)


async def requeue(conn: Conn, ids: Sequence[UUID], *, by: str) -> list[RowsChanged]:
    """Queue rows again that failed or are held; return how many of each queue."""
    values = {"ids": arrays.uuids(ids), "by": by}
    return await fetch.many(conn, "requeue_queue_rows", values, RowsChanged)


async def cancel(conn: Conn, ids: Sequence[UUID], *, by: str) -> list[RowsChanged]:
    """Fail rows that wait; return how many of each queue."""
    values = {"ids": arrays.uuids(ids), "by": by}
    return await fetch.many(conn, "cancel_queue_rows", values, RowsChanged)
