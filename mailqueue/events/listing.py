"""List events, the events of an address, and notices for administrators."""

from datetime import datetime
from uuid import UUID

from mailqueue.contract.emails import RecipientEvent, RecordedEvent
from mailqueue.contract.operations import Notice
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.events import store
from mailqueue.events.model import EventQuery
from mailqueue.projects.ids import project_id_of


async def list_events(conn: Conn, query: EventQuery) -> list[RecordedEvent]:
    """List events, the latest recorded first."""
    return await store.list_events(conn, query)


async def find_event(conn: Conn, event_id: UUID) -> RecordedEvent:
    """Return one event.

    Raises:
        NotFound: there is no event with this id.
    """
    for found in await store.list_events(conn, EventQuery(id=event_id, limit=1)):
        return found
    raise NotFound("event", event_id)


async def list_recipient(
    conn: Conn,
    project_id: UUID,
    address: str,
    *,
    before: tuple[datetime | None, UUID | None] = (None, None),
    limit: int,
) -> list[RecipientEvent]:
    """Return everything that happened to mail of a project to one address, newest first."""
    return await store.list_recipient(conn, project_id, address, before=before, limit=limit)


async def list_notices(
    conn: Conn, *, project: str | None, is_all: bool, limit: int
) -> list[Notice]:
    """Return the notices for administrators, newest first."""
    return await store.list_notices(conn, project=project, is_all=is_all, limit=limit)


async def see_notices(conn: Conn, *, project: str | None, by: str) -> int:
    """Mark the notices of a project, or all, as seen; return how many were new.

    Raises:
        NotFound: there is no such project.
    """
    project_id = None if project is None else await project_id_of(conn, project)
    return await store.see_notices(conn, project_id, by=by)
