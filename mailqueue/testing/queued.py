"""What is queued, read in the caller's own transaction over any connection of DB-API 2.0."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

_QUEUED = """
SELECT e.id, e.project, e.status, e.recipient_email, e.subject, e.text_body, e.html_body,
       mailqueue.template_of(e.id), e.from_email, e.category, e.campaign_id, e.tags,
       e.custom_data, e.priority, e.run_at
  FROM mailqueue.emails AS e
 WHERE e.status IN ('pending', 'assigned', 'held')
 ORDER BY e.id
"""
_PRIORITIES = ("critical", "high", "normal", "low")
MAX_SHOWN = 20
"""Emails that an AssertionError lists."""


class Cursor(Protocol):
    """A cursor of DB-API 2.0."""

    def execute(self, query: Any, /) -> Any: ...
    def fetchall(self) -> Sequence[Any]: ...
    def close(self) -> Any: ...


class DbApiConnection(Protocol):
    """A connection of DB-API 2.0: of psycopg, psycopg2, Django or SQLAlchemy's `.connection`."""

    def cursor(self) -> Any: ...


class QueuedEmail(NamedTuple):
    """One email that is not sent yet."""

    id: UUID
    project: str
    status: str
    """`pending`, `assigned` or `held`."""
    to: str
    """The first recipient."""
    subject: str | None
    """None: the template has it."""
    text: str | None
    html: str | None
    template: str | None
    """Slug of the template."""
    from_email: str | None
    category: str
    campaign_id: str | None
    tags: tuple[str, ...]
    custom_data: Mapping[str, Any]
    priority: str
    run_at: datetime
    """Time before which it is not sent."""


def queued(conn: DbApiConnection, **expected: object) -> list[QueuedEmail]:
    """Return the emails that are queued and not sent, oldest first, as this transaction sees them.

    `expected` are fields of QueuedEmail and their values, by which emails are chosen.

    Raises:
        TypeError: there is no such field.
    """
    if unknown := expected.keys() - set(QueuedEmail._fields):
        raise TypeError(
            f"an email has no field {sorted(unknown)[0]}; it has {', '.join(QueuedEmail._fields)}"
        )
    return [email for email in _all(conn) if _is_as(email, expected)]


def assert_queued(conn: DbApiConnection, **expected: object) -> QueuedEmail:
    """Return the one email that is queued with these fields.

    Raises:
        AssertionError: there is none, or several; the message lists what is queued.
    """
    found = queued(conn, **expected)
    if len(found) != 1:
        number = "no email is" if not found else f"{len(found)} emails are"
        raise AssertionError(f"{number} queued with {_words(expected)}; {_listed(_all(conn))}")
    return found[0]


def assert_none_queued(conn: DbApiConnection, **expected: object) -> None:
    """Check that no email is queued with these fields; without any, that none is queued at all.

    Raises:
        AssertionError: there is one; the message lists those.
    """
    if found := queued(conn, **expected):
        raise AssertionError(f"no email should be queued with {_words(expected)}; {_listed(found)}")


def _all(conn: DbApiConnection) -> list[QueuedEmail]:
    cursor: Cursor = conn.cursor()
    try:
        cursor.execute(_QUEUED)
        return [_email(row) for row in cursor.fetchall()]
    finally:
        cursor.close()


def _email(row: Any) -> QueuedEmail:
    # Connections may have a row factory of their own.
    values = list(row.values()) if isinstance(row, Mapping) else list(row)
    email = QueuedEmail(*values)
    return email._replace(
        id=UUID(str(email.id)),
        tags=tuple(email.tags or ()),
        custom_data=email.custom_data or {},
        priority=_PRIORITIES[int(email.priority)],
    )


def _is_as(email: QueuedEmail, expected: Mapping[str, object]) -> bool:
    return all(
        (tuple(value) if isinstance(value, list) else value) == getattr(email, field)
        for field, value in expected.items()
    )


def _words(expected: Mapping[str, object]) -> str:
    return ", ".join(f"{field}={value!r}" for field, value in expected.items()) or "any content"


def _listed(emails: Sequence[QueuedEmail]) -> str:
    if not emails:
        return "nothing is queued"
    lines = [
        f"\n  {email.id} to={email.to!r} subject={email.subject!r} template={email.template!r}"
        for email in emails[:MAX_SHOWN]
    ]
    more = len(emails) - len(lines)
    return f"queued are:{''.join(lines)}" + (f"\n  and {more} more" if more > 0 else "")
