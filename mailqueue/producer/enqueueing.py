"""Queue mail within the caller's transaction: it is committed or rolled back with the caller's
rows.
"""

from collections.abc import Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload
from uuid import UUID

from mailqueue.core.errors import InvalidField
from mailqueue.core.storable_text import unstorable
from mailqueue.producer import store
from mailqueue.producer.message import EnqueueMessage, known, message_of
from mailqueue.producer.model import Addresses, EmailFields, Enqueued, MailOptions

if TYPE_CHECKING:
    from psycopg import AsyncConnection, Connection

MAX_TOGETHER = 500
"""Most mails in one statement; more are queued by several statements of the same transaction."""
_Looked = list[EnqueueMessage | Enqueued]


@overload
def enqueue(
    conn: "Connection[Any]", /, to: Addresses, *, project: str = ..., **mail: Unpack[MailOptions]
) -> UUID: ...


@overload
def enqueue(
    conn: "AsyncConnection[Any]",
    /,
    to: Addresses,
    *,
    project: str = ...,
    **mail: Unpack[MailOptions],
) -> Coroutine[Any, Any, UUID]: ...


def enqueue(
    conn: "Connection[Any] | AsyncConnection[Any]",
    /,
    to: Addresses,
    *,
    project: str = "default",
    **mail: Unpack[MailOptions],
) -> UUID | Coroutine[Any, Any, UUID]:
    """Queue one mail in the caller's transaction and return its id.

    With an AsyncConnection the result is awaited. Nothing is committed, begun or rolled back: the
    mail is sent after the caller commits. Where the idempotency key was used before, the id of that
    mail is returned.

    Raises:
        InvalidField: the mail is refused. Where PostgreSQL refused it, the transaction has failed,
            as after any failed statement.
    """
    message = message_of(to, mail)
    _check(project)
    if store.is_asynchronous(conn):
        return store.enqueue_async(conn, project, message)  # type: ignore[arg-type]
    return store.enqueue(conn, project, message)  # type: ignore[arg-type]


@overload
def enqueue_many(
    conn: "Connection[Any]", /, mails: Sequence[EmailFields], *, project: str = ...
) -> list[Enqueued]: ...


@overload
def enqueue_many(
    conn: "AsyncConnection[Any]", /, mails: Sequence[EmailFields], *, project: str = ...
) -> Coroutine[Any, Any, list[Enqueued]]: ...


def enqueue_many(
    conn: "Connection[Any] | AsyncConnection[Any]",
    /,
    mails: Sequence[EmailFields],
    *,
    project: str = "default",
) -> list[Enqueued] | Coroutine[Any, Any, list[Enqueued]]:
    """Queue many mails in the caller's transaction; return the result of each.

    With an AsyncConnection the result is awaited. A refused mail does not stop the others and
    leaves the transaction usable: check `status`.

    Raises:
        InvalidField: there is no such project.
    """
    _check(project)
    looked = [_looked(mail) for mail in mails]
    if store.is_asynchronous(conn):
        return _many_async(conn, looked, project)  # type: ignore[arg-type]
    return _many(conn, looked, project)  # type: ignore[arg-type]


def _many(conn: "Connection[Any]", looked: _Looked, project: str) -> list[Enqueued]:
    rows: list[store.Row] = []
    for messages in _groups(looked):
        rows += store.enqueue_batch(conn, project, messages)
    return _joined(looked, rows)


async def _many_async(
    conn: "AsyncConnection[Any]", looked: _Looked, project: str
) -> list[Enqueued]:
    rows: list[store.Row] = []
    for messages in _groups(looked):
        rows += await store.enqueue_batch_async(conn, project, messages)
    return _joined(looked, rows)


def _check(project: str) -> None:
    fault = unstorable("project", project)
    if fault is not None:
        raise fault


def _looked(mail: EmailFields) -> EnqueueMessage | Enqueued:
    given = dict(mail)
    to: Any = given.pop("to", ())
    try:
        return message_of(to, given)
    except InvalidField as exc:
        return Enqueued(None, "rejected", str(exc), exc.field)


def _groups(looked: _Looked) -> Iterator[list[EnqueueMessage]]:
    good = [one for one in looked if isinstance(one, EnqueueMessage)]
    for start in range(0, len(good), MAX_TOGETHER):
        yield good[start : start + MAX_TOGETHER]


def _joined(looked: _Looked, rows: Sequence[store.Row]) -> list[Enqueued]:
    told = iter(rows)
    return [one if isinstance(one, Enqueued) else _enqueued(next(told)) for one in looked]


def _enqueued(row: store.Row) -> Enqueued:
    found, status, reason = row
    if status != "rejected":
        return Enqueued(UUID(str(found)), status, reason)
    field, _, why = str(reason).partition(": ")
    return Enqueued(None, status, f"{known(field)}: {why}", known(field))
