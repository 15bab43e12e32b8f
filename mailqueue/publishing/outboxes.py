"""Outboxes: list, add, change, remove, skip a message."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.contract.automation.publishing import Outbox, OutboxTransport
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.publishing import store


async def list_(conn: Conn, project_id: UUID) -> list[Outbox]:
    """Return the outboxes of a project by name."""
    return await store.list_outboxes(conn, project_id)


async def get(conn: Conn, project_id: UUID, name: str) -> Outbox:
    """Return one outbox.

    Raises:
        NotFound: there is no outbox of that name.
    """
    found = await store.list_outboxes(conn, project_id, name=name)
    if not found:
        raise NotFound("outbox", name[:100])
    return found[0]


async def add(
    conn: Conn,
    project_id: UUID,
    name: str,
    *,
    transport: OutboxTransport,
    target: str,
    by: str,
    events: Sequence[str] | None = None,
) -> Outbox:
    """Add an outbox that publishes to a target, with events of these types; None: no events.

    Raises:
        Conflict: there is an outbox of that name.
        InvalidField: a field is invalid.
    """
    async with conn.transaction():
        if not await store.add_outbox(
            conn, project_id, name, transport=transport, target=target, by=by
        ):
            raise Conflict(f"outbox {name} already exists in this project")
        if events is not None:
            await store.change_outbox_events(conn, project_id, name, events=events, by=by)
    return await get(conn, project_id, name)


async def change(
    conn: Conn, project_id: UUID, name: str, *, transport: OutboxTransport, target: str, by: str
) -> Outbox:
    """Publish the messages of an outbox to another target from now on.

    Raises:
        NotFound: there is no outbox of that name.
        InvalidField: a field is invalid.
    """
    if not await store.change_outbox(
        conn, project_id, name, transport=transport, target=target, by=by
    ):
        raise NotFound("outbox", name[:100])
    return await get(conn, project_id, name)


async def change_events(
    conn: Conn, project_id: UUID, name: str, *, events: Sequence[str] | None, by: str
) -> Outbox:
    """Publish events of these types from an outbox from now on; an empty list: all, None: none.

    Raises:
        NotFound: there is no outbox of that name.
        InvalidField: a type is unknown.
    """
    if not await store.change_outbox_events(conn, project_id, name, events=events, by=by):
        raise NotFound("outbox", name[:100])
    return await get(conn, project_id, name)


async def remove(conn: Conn, project_id: UUID, name: str, *, by: str) -> None:
    """Remove an outbox with its messages, published or not.

    Raises:
        NotFound: there is no outbox of that name.
        Conflict: a transaction that has written to it is open, or it publishes events.
    """
    if not await store.remove_outbox(conn, project_id, name, by=by):
        raise NotFound("outbox", name[:100])


async def skip(conn: Conn, project_id: UUID, name: str, message_id: UUID, *, by: str) -> None:
    """Leave a message out of what an outbox publishes.

    Raises:
        NotFound: the outbox has no message of that id which waits.
    """
    if not await store.skip_message(conn, project_id, name, message_id, by=by):
        raise NotFound("waiting message", message_id)
