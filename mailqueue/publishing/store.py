"""SQL of outboxes and their messages."""

from collections.abc import Sequence
from uuid import UUID

from psycopg.errors import LockNotAvailable, ObjectInUse

from mailqueue.contract.automation.publishing import Outbox
from mailqueue.core.errors import Conflict
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import publishing as sql
from mailqueue.publishing.model import ClaimedOutbox, OutboxHorizon, OutboxMessage, Progress


async def extend_horizons(conn: Conn, rows: Sequence[ClaimedOutbox]) -> list[OutboxHorizon]:
    """Return what can be published of claimed outboxes; those whose claim is lost are left out."""
    values = {
        "ids": arrays.uuids([row.id for row in rows]),
        "claims": arrays.integers([row.claim_no for row in rows]),
    }
    return await fetch.many(conn, sql.EXTEND_HORIZONS, values, OutboxHorizon)


async def read_messages(
    conn: Conn, limits: Sequence[OutboxHorizon], *, limit: int
) -> list[OutboxMessage]:
    """Return the next messages of each outbox in order, at most `limit` of each."""
    values = {
        "ids": arrays.uuids([one.id for one in limits]),
        "cursors": arrays.integers([one.cursor for one in limits]),
        "horizons": arrays.integers([one.horizon for one in limits]),
        "limit": limit,
    }
    return await fetch.many(conn, sql.READ_OUTBOX_MESSAGES, values, OutboxMessage)


async def advance(conn: Conn, done: Sequence[tuple[UUID, Progress]]) -> None:
    """Write what was published of outboxes."""
    values = {
        "ids": arrays.uuids([outbox_id for outbox_id, _ in done]),
        "lasts": arrays.integers([one.last for _, one in done]),
        "published": arrays.integers([number for _, one in done for number in one.published]),
        "expired": arrays.integers([number for _, one in done for number in one.expired]),
    }
    await fetch.run(conn, sql.ADVANCE_OUTBOXES, values)


async def list_outboxes(conn: Conn, project_id: UUID, *, name: str | None = None) -> list[Outbox]:
    """Return the outboxes of a project by name, or the one with the name."""
    return await fetch.many(
        conn, sql.LIST_OUTBOXES, {"project_id": project_id, "name": name}, Outbox
    )


async def add_outbox(
    conn: Conn, project_id: UUID, name: str, *, transport: str, target: str, by: str
) -> bool:
    """Add an outbox; return False where there is one of that name.

    Raises:
        InvalidField: a field is invalid.
    """
    values = _fields(project_id, name, transport, target, by)
    with refusals(otherwise="name"):
        async with conn.transaction():
            return await fetch.value(conn, sql.ADD_OUTBOX, values, bool)


async def change_outbox(
    conn: Conn, project_id: UUID, name: str, *, transport: str, target: str, by: str
) -> bool:
    """Change where an outbox publishes; return False where there is none of that name.

    Raises:
        InvalidField: a field is invalid.
    """
    values = _fields(project_id, name, transport, target, by)
    with refusals(otherwise="target"):
        async with conn.transaction():
            return await fetch.value(conn, sql.CHANGE_OUTBOX, values, bool)


async def change_outbox_events(
    conn: Conn, project_id: UUID, name: str, *, events: Sequence[str] | None, by: str
) -> bool:
    """Change which events an outbox publishes; return False where there is none of that name.

    Raises:
        InvalidField: a type is unknown.
    """
    values = {
        "project_id": project_id,
        "name": name,
        "events": None if events is None else [*events],
        "by": by,
    }
    with refusals(otherwise="events"):
        async with conn.transaction():
            return await fetch.value(conn, sql.CHANGE_OUTBOX_EVENTS, values, bool)


async def remove_outbox(conn: Conn, project_id: UUID, name: str, *, by: str) -> bool:
    """Remove an outbox with its messages; return False where there is none of that name.

    Raises:
        Conflict: a transaction that has written to it is open, or it publishes events.
    """
    values = {"project_id": project_id, "name": name, "by": by}
    try:
        async with conn.transaction():
            return await fetch.value(conn, sql.REMOVE_OUTBOX, values, bool)
    except LockNotAvailable as exc:
        why = f"outbox {name} is in use: a transaction that has written to it is open"
        raise Conflict(why) from exc
    except ObjectInUse as exc:
        why = f"outbox {name} publishes events of emails: change it to publish none, then remove it"
        raise Conflict(why) from exc


async def skip_message(
    conn: Conn, project_id: UUID, name: str, message_id: UUID, *, by: str
) -> bool:
    """Leave a message out; return False where no message of that id waits in the outbox."""
    values = {"project_id": project_id, "name": name, "message_id": message_id, "by": by}
    return await fetch.value(conn, sql.SKIP_OUTBOX_MESSAGE, values, bool)


def _fields(project_id: UUID, name: str, transport: str, target: str, by: str) -> dict[str, object]:
    return {
        "project_id": project_id,
        "name": name,
        "transport": transport,
        "target": target,
        "by": by,
    }
