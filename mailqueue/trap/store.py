"""Caught messages as rows; the only file here that runs SQL."""

from collections.abc import Sequence

from psycopg import DataError, ProgrammingError

from mailqueue.core.errors import InvalidField, Unavailable
from mailqueue.db.fetch import Conn, many, maybe, one, run, value
from mailqueue.db.statements import trap as sql
from mailqueue.trap.model import CaughtMessage, Neighbours, TrapMessage, TrapSummary


async def add(conn: Conn, messages: Sequence[CaughtMessage]) -> None:
    """Insert a batch of messages.

    Raises:
        InvalidField: one of them cannot be stored in PostgreSQL; none was stored.
        Unavailable: the table cannot be written now.
    """
    params = {
        "mail_from": [each.mail_from for each in messages],
        "rcpt_to": ["\n".join(each.rcpt_to) for each in messages],
        "subject": [each.subject for each in messages],
        "from_header": [each.from_header for each in messages],
        "to_header": [each.to_header for each in messages],
        "preview": [each.preview for each in messages],
        "raw": [each.raw for each in messages],
    }
    try:
        await run(conn, sql.ADD_TRAP_MESSAGES, params)
    except DataError as exc:
        raise InvalidField("message", "cannot be stored") from exc
    except ProgrammingError as exc:  # no schema yet, or no permission
        raise Unavailable(f"caught mail cannot be stored: {exc.diag.message_primary}") from exc


async def list_page(
    conn: Conn,
    *,
    limit: int | None = None,
    search: str = "",
    before: int | None = None,
    after: int | None = None,
) -> list[TrapSummary]:
    """Return messages, newest first, with ids below `before` and above `after`."""
    bounds = {"pattern": _pattern(search), "before": before, "after": after, "limit": limit}
    return await many(conn, sql.LIST_TRAP_MESSAGES, bounds, TrapSummary)


async def read_page(
    conn: Conn, *, limit: int | None = None, search: str = "", before: int | None = None
) -> list[TrapMessage]:
    """Return whole messages, newest first, with ids below `before`."""
    bounds = {"pattern": _pattern(search), "before": before, "limit": limit}
    return await many(conn, sql.READ_TRAP_MESSAGES, bounds, TrapMessage)


async def find(conn: Conn, message_id: int) -> TrapMessage | None:
    """Return one message, or None."""
    return await maybe(conn, sql.FIND_TRAP_MESSAGE, {"id": message_id}, TrapMessage)


async def neighbours(conn: Conn, message_id: int) -> Neighbours:
    """Return the messages next to one, newer and older."""
    return await one(conn, sql.FIND_TRAP_NEIGHBOURS, {"id": message_id}, Neighbours)


async def count(conn: Conn, *, search: str = "") -> int:
    """Return the number of messages that match the search."""
    return await value(conn, sql.COUNT_TRAP_MESSAGES, {"pattern": _pattern(search)}, int)


async def find_oldest(conn: Conn, *, search: str, after: int | None) -> int | None:
    """Return the id of the oldest message above `after` that matches the search."""
    asked = {"pattern": _pattern(search), "after": after}
    return await maybe(conn, sql.FIND_OLDEST_TRAP_MESSAGE, asked, int)


async def remove(conn: Conn, message_id: int) -> bool:
    """Delete one message; return whether there was one."""
    return bool(await run(conn, sql.REMOVE_TRAP_MESSAGE, {"id": message_id}))


async def clear(conn: Conn) -> int:
    """Delete every message and return their number."""
    return await run(conn, sql.CLEAR_TRAP_MESSAGES)


def _pattern(search: str) -> str | None:
    """Return a LIKE pattern that matches the text itself, with wildcards escaped."""
    text = search.replace("\0", "")
    for char in ("\\", "%", "_"):
        text = text.replace(char, "\\" + char)
    return f"%{text}%" if text else None
