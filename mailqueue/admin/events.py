"""Search events over all projects: two logs merged by time, by pages."""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from mailqueue.admin import store
from mailqueue.admin.model import PlatformEvent
from mailqueue.contract.admin import AdminEvent
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField
from mailqueue.core.paging import cursor_of
from mailqueue.db.fetch import Conn

TYPES = (
    *("bounced", "cancelled", "clicked", "complaint", "deferred", "delivered", "expired", "failed"),
    *("hard_bounce", "held", "opened", "queued", "rejected", "resolved", "resubscribed"),
    *("sent", "soft_bounce", "suppressed", "unknown", "unsubscribed"),
)

# A cursor holds no null: this value sorts after all others.
_NO_EVENT = UUID(int=2**128 - 1)
_NO_ATTEMPT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Search:
    """Filters of a search; None matches everything. `until` is exclusive."""

    since: datetime
    until: datetime
    project_id: UUID | None = None
    type: str | None = None
    recipient: str | None = None  # a whole address


@dataclass(frozen=True, slots=True)
class LogPosition:
    """Position in each log after which a page begins; None: at its first row."""

    event_id: UUID | None = None
    attempt_id: int | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events, newest first; `next` is None at the end."""

    events: list[PlatformEvent]
    next: LogPosition | None

    def shown(self) -> Page[AdminEvent]:
        """Return the page as callers see it."""
        cursor = None
        if self.next is not None:
            attempt_id = _NO_ATTEMPT if self.next.attempt_id is None else self.next.attempt_id
            cursor = cursor_of(self.next.event_id or _NO_EVENT, attempt_id)
        return Page([_event(each) for each in self.events], cursor)


async def search(
    conn: Conn, filters: Search, *, after: LogPosition | None, limit: int
) -> EventPage:
    """Return the page of events after a position.

    Raises:
        InvalidField: the type is unknown, or `until` is before `since`.
    """
    if filters.type is not None and filters.type not in TYPES:
        raise InvalidField("type", f"must be one of {', '.join(TYPES)}")
    if filters.until <= filters.since:
        raise InvalidField("until", "must be after since")
    place = after or LogPosition()
    found = await store.search_events(
        conn,
        project_id=filters.project_id,
        type=filters.type,
        recipient=filters.recipient,
        since=filters.since,
        until=filters.until,
        before_event=place.event_id,
        before_attempt=place.attempt_id,
        limit=limit + 1,
    )
    return merged(found, place, limit=limit)


def merged(found: list[PlatformEvent], place: LogPosition, *, limit: int) -> EventPage:
    """Return the rows of both logs merged by time, newest first. Pure."""
    events = [each for each in found if each.event_id is not None]
    attempts = [each for each in found if each.event_id is None]
    page: list[PlatformEvent] = []
    while (events or attempts) and len(page) < limit:
        is_event = not attempts or (events and events[0].occurred_at >= attempts[0].occurred_at)
        taken = (events if is_event else attempts).pop(0)
        page.append(taken)
        if taken.event_id is not None:
            place = replace(place, event_id=taken.event_id)
        else:
            place = replace(place, attempt_id=taken.attempt_id)
    return EventPage(page, place if events or attempts else None)


def _event(event: PlatformEvent) -> AdminEvent:
    return AdminEvent(
        id=str(event.event_id or event.attempt_id),
        source=event.source,
        type=event.type,
        occurred_at=event.occurred_at,
        project=event.project,
        email_id=event.email_id,
        recipient=event.recipient,
        sender=event.sender,
        detail=event.detail,
    )
