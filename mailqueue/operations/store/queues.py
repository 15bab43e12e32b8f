"""SQL of the queues besides mail, for operators."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.contract.admin import QueueState
from mailqueue.contract.infrastructure import QueueKey
from mailqueue.contract.operations import QueueRow, RowsChanged
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements import admin as admin_sql
from mailqueue.db.statements.operations import queues as queues_sql


async def states(conn: Conn) -> list[QueueState]:
    """Return the state of each queue."""
    return await fetch.many(conn, admin_sql.LIST_QUEUE_STATES, None, QueueState)


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
    return await fetch.many(conn, queues_sql.LIST_QUEUE_ROWS, values, QueueRow)


async def keys(conn: Conn) -> list[QueueKey]:
    """Return the keys that are in trouble."""
    return await fetch.many(conn, queues_sql.LIST_QUEUE_KEYS, None, QueueKey)


async def requeue(conn: Conn, ids: Sequence[UUID], *, by: str) -> list[RowsChanged]:
    """Queue rows again that failed or are held; return how many of each queue."""
    values = {"ids": arrays.uuids(ids), "by": by}
    return await fetch.many(conn, queues_sql.REQUEUE_QUEUE_ROWS, values, RowsChanged)


async def cancel(conn: Conn, ids: Sequence[UUID], *, by: str) -> list[RowsChanged]:
    """Fail rows that wait; return how many of each queue."""
    values = {"ids": arrays.uuids(ids), "by": by}
    return await fetch.many(conn, queues_sql.CANCEL_QUEUE_ROWS, values, RowsChanged)
