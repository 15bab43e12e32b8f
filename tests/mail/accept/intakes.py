"""The ways to accept a mail, each called with the columns of `email_queue`."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from psycopg import Error
from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make

Way = Callable[..., Awaitable[UUID]]

# What a column of email_queue is called in the options of enqueue().
_OPTION_BY_COLUMN = {"also_to": "to"}
_BODIES = {"subject": "subject", "html_body": "html", "text_body": "text"}


class NotAccepted(Exception):
    """The mail was not accepted; holds the reason, whichever interface was used."""

    def __init__(self, field: str | None, message: str) -> None:
        self.field = field
        self.message = message
        super().__init__(message)


def plain(**columns: Any) -> dict[str, Any]:
    """Return the columns of a valid mail, some of them changed; None removes one."""
    whole = {"recipient_email": "ann@example.com", "subject": "Hello", "text_body": "Hi"}
    return {name: value for name, value in (whole | columns).items() if value is not None}


async def by_insert(conn: Conn, **columns: Any) -> UUID:
    async with _telling(conn):
        found: UUID = await make.inserted(conn, "email_queue", columns)
        return found


async def by_copy(conn: Conn, **columns: Any) -> UUID:
    """COPY gives no ids; the mail is the newest one."""
    names = ", ".join(columns)
    async with _telling(conn), conn.cursor() as cursor:
        statement = f"COPY mailqueue.email_queue ({names}) FROM STDIN"
        async with cursor.copy(statement.encode()) as copy:
            await copy.write_row([make.adapted(value) for value in columns.values()])
    found: UUID = await make.scalar(
        conn, "SELECT id FROM mailqueue.emails ORDER BY id DESC LIMIT 1"
    )
    return found


async def by_enqueue(conn: Conn, **columns: Any) -> UUID:
    project, recipient, bodies, options = _split(columns)
    async with _telling(conn):
        found: UUID = await make.scalar(
            conn,
            "SELECT mailqueue.enqueue(project => %s, recipient => %s, subject => %s, html => %s,"
            " text => %s, options => %s)",
            project,
            recipient,
            bodies.get("subject"),
            bodies.get("html"),
            bodies.get("text"),
            Jsonb(options),
        )
        return found


async def by_batch(conn: Conn, **columns: Any) -> UUID:
    project, recipient, bodies, options = _split(columns)
    message = {"recipient": recipient, **bodies, **options}
    async with _telling(conn):
        [(email_id, status, reason)] = await make.rows(
            conn,
            "SELECT id, status, reason FROM mailqueue.enqueue_batch(%s, %s)",
            project,
            Jsonb([message]),
        )
    if status == "rejected":
        raise NotAccepted(reason.partition(":")[0], reason)
    found: UUID = email_id
    return found


WAYS: dict[str, Way] = {
    "insert": by_insert,
    "copy": by_copy,
    "enqueue": by_enqueue,
    "batch": by_batch,
}


def _split(columns: dict[str, Any]) -> tuple[str, str | None, dict[str, str], dict[str, Any]]:
    left = dict(columns)
    project = left.pop("project", "default")
    recipient = left.pop("recipient_email", None)
    name = left.pop("recipient_name", None)
    if name is not None:
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        recipient = f'"{quoted}" <{recipient}>'
    bodies = {_BODIES[key]: left.pop(key) for key in list(left) if key in _BODIES}
    return project, recipient, bodies, {_OPTION_BY_COLUMN.get(k, k): v for k, v in left.items()}


class _telling:  # noqa: N801
    """Run within a savepoint, and raise the database's refusal as NotAccepted."""

    def __init__(self, conn: Conn) -> None:
        self.savepoint = conn.transaction()

    async def __aenter__(self) -> None:
        await self.savepoint.__aenter__()

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        await self.savepoint.__aexit__(kind, error, trace)
        if isinstance(error, Error):
            assert error.sqlstate == "22023", f"{error.sqlstate} {error}"
            message = error.diag.message_primary or ""
            raise NotAccepted(error.diag.column_name, message) from error
