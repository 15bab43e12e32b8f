"""Senders that a person is not notified of: list, mute, unmute."""

from uuid import UUID

from mailqueue.contract.watch import MutedSender
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.watch.store import buttons as store


async def list_page(
    conn: Conn,
    project_id: UUID,
    *,
    user_id: UUID | None = None,
    after: UUID | None = None,
    limit: int,
) -> list[MutedSender]:
    """Return muted senders in the order they were muted, of a person or (None) of all."""
    return await store.list_muted(conn, project_id, user_id=user_id, after=after, limit=limit)


async def get(conn: Conn, project_id: UUID, muted_id: UUID) -> MutedSender:
    """Return one muted sender.

    Raises:
        NotFound: there is none of that id.
    """
    found = await store.list_muted(conn, project_id, muted_id=muted_id)
    if not found:
        raise NotFound("muted sender", muted_id)
    return found[0]


async def mute(
    conn: Conn, project_id: UUID, user_id: UUID, sender_address: str, *, by: str
) -> MutedSender:
    """Mute a sender for a person; what waits from this sender is not delivered.

    Raises:
        InvalidField: a field is invalid.
        Conflict: the sender is muted already.
    """
    made = await store.mute(conn, project_id, user_id, sender_address, by=by)
    if made is None:
        raise Conflict("this sender is muted for the inbox user already")
    return await get(conn, project_id, made)


async def unmute(conn: Conn, project_id: UUID, muted_id: UUID, *, by: str) -> None:
    """Notify the person of the sender again; mail that came meanwhile is not reported.

    Raises:
        NotFound: there is none of that id.
    """
    if not await store.unmute(conn, project_id, muted_id, by=by):
        raise NotFound("muted sender", muted_id)
