"""Persons whose inboxes are watched: list, add, pause, resume, remove."""

from uuid import UUID

from mailqueue.contract.watch import InboxUser
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.watch.store import people


async def list_page(
    conn: Conn, project_id: UUID, *, after: UUID | None = None, limit: int
) -> list[InboxUser]:
    """Return persons in the order they were added."""
    return await people.list_users(conn, project_id, after=after, limit=limit)


async def get(conn: Conn, project_id: UUID, user_id: UUID) -> InboxUser:
    """Return one person.

    Raises:
        NotFound: there is none of that id.
    """
    found = await people.list_users(conn, project_id, user_id=user_id)
    if not found:
        raise NotFound("inbox user", user_id)
    return found[0]


async def add(conn: Conn, project_id: UUID, email: str, *, by: str) -> InboxUser:
    """Add a person.

    Raises:
        Conflict: the project has one with this address.
        InvalidField: the address is invalid, or the project has too many.
    """
    made = await people.add_user(conn, project_id, email, by=by)
    if made is None:
        raise Conflict("the project has an inbox user with this address already")
    return await get(conn, project_id, made)


async def pause(
    conn: Conn, project_id: UUID, user_id: UUID, *, is_paused: bool, by: str
) -> InboxUser:
    """Pause or resume all notifications of a person.

    Raises:
        NotFound: there is none of that id.
    """
    if not await people.pause_user(conn, project_id, user_id, is_paused=is_paused, by=by):
        raise NotFound("inbox user", user_id)
    return await get(conn, project_id, user_id)


async def remove(conn: Conn, project_id: UUID, user_id: UUID, *, by: str) -> None:
    """Remove a person with inboxes, channels, rules and notifications.

    Raises:
        NotFound: there is none of that id.
    """
    if not await people.remove_user(conn, project_id, user_id, by=by):
        raise NotFound("inbox user", user_id)
