"""Leases of inboxes that a process listens to, as rows."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from mailqueue.core.storable_text import storable
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.watch import listeners as sql


async def take(
    conn: Conn,
    listener: UUID,
    *,
    room: int,
    of_project: int,
    of_server: int,
    lease: timedelta,
) -> list[UUID]:
    """Take leases of inboxes without a connection; return their ids."""
    values = {
        "listener": listener,
        "room": room,
        "of_project": of_project,
        "of_server": of_server,
        "lease": lease,
    }
    return await fetch.many(conn, sql.TAKE_INBOXES_TO_HEAR, values, UUID)


async def give_way(
    conn: Conn, listener: UUID, *, room: int, of_project: int, of_server: int
) -> None:
    """Release leases for inboxes of projects with fewer connections where there is no room."""
    values = {"listener": listener, "room": room, "of_project": of_project, "of_server": of_server}
    await fetch.run(conn, sql.YIELD_INBOXES_HEARD, values)


async def keep(
    conn: Conn, listener: UUID, inboxes: Sequence[UUID], *, lease: timedelta
) -> set[UUID]:
    """Renew leases; return the inboxes that the process still is to listen to."""
    values = {"listener": listener, "ids": arrays.uuids(inboxes), "lease": lease}
    return set(await fetch.many(conn, sql.KEEP_INBOXES_HEARD, values, UUID))


async def note(
    conn: Conn,
    listener: UUID,
    inbox_id: UUID,
    *,
    state: str,
    error: str | None = None,
    wait: timedelta | None = None,
) -> None:
    """Write the state of a connection; with a wait its lease is given back."""
    values = {
        "listener": listener,
        "id": inbox_id,
        "state": state,
        "error": None if error is None else storable(error),
        "wait": wait,
    }
    await fetch.run(conn, sql.NOTE_INBOX_HEARD, values)


async def wake(conn: Conn, listener: UUID, inbox_id: UUID) -> str:
    """Let an inbox be scanned at once; return `woken`, `scanning` or `waits`."""
    return await fetch.value(conn, sql.WAKE_INBOX, {"listener": listener, "id": inbox_id}, str)


async def release(conn: Conn, listener: UUID) -> None:
    """Release all leases of a process."""
    await fetch.run(conn, sql.RELEASE_INBOXES_HEARD, {"listener": listener})
