"""SQL that queues mail over any psycopg connection, whatever its row factory and settings.

psycopg is imported on first use, so importing mailqueue does not load it. Nothing here begins,
commits or rolls back a transaction.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import UUID

from mailqueue.core.errors import InvalidField, Refusal
from mailqueue.core.mailboxes import with_wire_domain, with_wire_domains
from mailqueue.producer.message import EnqueueMessage, known

if TYPE_CHECKING:
    from psycopg import AsyncConnection, Connection

_ENQUEUE = (
    "SELECT mailqueue.enqueue(project => %(project)s::text, recipient => %(recipient)s::text,"
    " subject => %(subject)s::text, html => %(html)s::text, text => %(text)s::text,"
    " options => %(options)s::jsonb)"
)
_ENQUEUE_BATCH = (
    "SELECT id, status, reason FROM mailqueue.enqueue_batch(%(project)s::text, %(messages)s::jsonb)"
    " ORDER BY index"
)
Row = tuple[Any, ...]


def is_asynchronous(conn: object) -> bool:
    """Return whether a connection is asynchronous.

    Raises:
        TypeError: it is not a connection of psycopg.
    """
    from psycopg import AsyncConnection, Connection

    if isinstance(conn, Connection | AsyncConnection):
        return isinstance(conn, AsyncConnection)
    raise TypeError(
        "a psycopg.Connection or psycopg.AsyncConnection is needed, got "
        f"{type(conn).__module__}.{type(conn).__qualname__}"
    )


def enqueue(conn: "Connection[Any]", project: str, message: EnqueueMessage) -> UUID:
    """Accept one mail; return its id."""
    ((found,),) = _rows(conn, _ENQUEUE, _one(project, message))
    return UUID(str(found))


async def enqueue_async(
    conn: "AsyncConnection[Any]", project: str, message: EnqueueMessage
) -> UUID:
    """Accept one mail; return its id."""
    ((found,),) = await _rows_async(conn, _ENQUEUE, _one(project, message))
    return UUID(str(found))


def enqueue_batch(
    conn: "Connection[Any]", project: str, messages: Sequence[EnqueueMessage]
) -> Sequence[Row]:
    """Accept many mails; return id, status and reason of each, in order."""
    return _rows(conn, _ENQUEUE_BATCH, _many(project, messages))


async def enqueue_batch_async(
    conn: "AsyncConnection[Any]", project: str, messages: Sequence[EnqueueMessage]
) -> Sequence[Row]:
    """Accept many mails; return id, status and reason of each, in order."""
    return await _rows_async(conn, _ENQUEUE_BATCH, _many(project, messages))


def _rows(conn: "Connection[Any]", query: str, params: dict[str, object]) -> list[Row]:
    from psycopg import Cursor
    from psycopg.rows import tuple_row

    # A plain psycopg cursor: the connection's own may use another row factory or parameter style.
    with _refusals(), Cursor(conn, row_factory=tuple_row) as cursor:
        return cursor.execute(query.encode(), params).fetchall()


async def _rows_async(
    conn: "AsyncConnection[Any]", query: str, params: dict[str, object]
) -> list[Row]:
    from psycopg import AsyncCursor
    from psycopg.rows import tuple_row

    with _refusals():
        async with AsyncCursor(conn, row_factory=tuple_row) as cursor:
            await cursor.execute(query.encode(), params)
            return await cursor.fetchall()


def _one(project: str, message: EnqueueMessage) -> dict[str, object]:
    return {
        "project": project,
        "recipient": with_wire_domain(message.recipient),
        "subject": message.subject,
        "html": message.html,
        "text": message.text,
        "options": json.dumps(with_wire_domains(message.options)),
    }


def _many(project: str, messages: Sequence[EnqueueMessage]) -> dict[str, object]:
    return {
        "project": project,
        "messages": json.dumps([with_wire_domains(one.document()) for one in messages]),
    }


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise InvalidField in place of the database's refusal of a mail."""
    from psycopg.errors import InvalidParameterValue

    try:
        yield
    except InvalidParameterValue as exc:
        field = exc.diag.column_name
        if field is None:  # not raised by our SQL
            raise
        why = (exc.diag.message_primary or str(exc)).removeprefix(f"{field}: ")
        raise InvalidField(known(field), why, Refusal.of(exc.diag.constraint_name)) from exc
