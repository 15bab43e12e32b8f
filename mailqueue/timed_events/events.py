"""Timed events: list, show, put, change, cancel."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.contract.automation.timed_events import PutTimedEvent, TimedEvent
from mailqueue.contract.page import Page
from mailqueue.core.errors import NotFound
from mailqueue.core.paging import cursor_of
from mailqueue.db.fetch import Conn
from mailqueue.timed_events import store
from mailqueue.timed_events.model import TimedEventFilter


async def list_page(
    conn: Conn, project_id: UUID, *, filters: TimedEventFilter, before: UUID | None, limit: int
) -> Page[TimedEvent]:
    """Return a page of events, newest first; `before` is the id of the last one shown."""
    found = await store.list_page(conn, project_id, filters=filters, before=before, limit=limit + 1)
    shown = found[:limit]
    cursor = cursor_of(shown[-1].id) if len(found) > limit else None
    return Page(shown, cursor)


async def show(conn: Conn, project_id: UUID | None, event_id: UUID) -> TimedEvent:
    """Return one event; of any project for None.

    Raises:
        NotFound: there is no such event.
    """
    found = await store.list_page(
        conn, project_id, event_id=event_id, filters=TimedEventFilter(), before=None, limit=1
    )
    if not found:
        raise NotFound("timed event", event_id)
    return found[0]


async def put(
    conn: Conn,
    project_id: UUID,
    *,
    kind: str,
    at: datetime | None = None,
    local_at: datetime | None = None,
    time_zone: str | None = None,
    contact_id: UUID | None = None,
    payload: Mapping[str, Any],
    template: str | None = None,
    recipient: str | None = None,
    webhook_id: UUID | None = None,
    idempotency_key: str | None = None,
    is_test: bool,
    by: str,
) -> PutTimedEvent:
    """Add an event, or return the one that has its idempotency key, unchanged.

    `at` is an instant; `local_at` a wall clock in `time_zone`, or else in the zone of the contact,
    or else in that of the project.

    Raises:
        InvalidField: a field is invalid.
        ProjectFull: the project is at a bound.
    """
    return await store.add(
        conn,
        project_id,
        kind=kind,
        at=at,
        local_at=local_at,
        time_zone=time_zone,
        contact_id=contact_id,
        payload=payload,
        template=template,
        recipient=recipient,
        webhook_id=webhook_id,
        idempotency_key=idempotency_key,
        is_test=is_test,
        by=by,
    )


async def change(
    conn: Conn, project_id: UUID, event_id: UUID, *, version: int, given: Mapping[str, Any]
) -> TimedEvent:
    """Change the time or the payload of a pending event that has the version.

    Raises:
        NotFound: there is no such event.
        Conflict: it has another version, or is not pending.
        InvalidField: a field is invalid.
    """
    if not await store.change(conn, project_id, event_id, version=version, given=given):
        raise NotFound("timed event", event_id)
    return await show(conn, project_id, event_id)


async def cancel(
    conn: Conn, project_id: UUID, event_id: UUID, *, version: int | None, by: str
) -> TimedEvent:
    """Cancel a pending event; whatever its version for None.

    Raises:
        NotFound: there is no such event.
        Conflict: it has another version, or is not pending.
    """
    if not await store.cancel(conn, project_id, event_id, version=version, by=by):
        raise NotFound("timed event", event_id)
    return await show(conn, project_id, event_id)
