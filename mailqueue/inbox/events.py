"""Events of the inbox: deliver, list, show, replay."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from mailqueue.contract.automation.inbox import (
    EventOutcome,
    EventReplay,
    InboxEvent,
    InboxEventDetail,
)
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.paging import cursor_of
from mailqueue.db.fetch import Conn
from mailqueue.inbox import store
from mailqueue.inbox.model import DIRECT_CONSUMER, EventFilter

REPLAY_EVENTS = 500
"""Maximum number of events that one call replays, in one transaction."""


async def deliver(
    conn: Conn,
    project: str,
    *,
    message_id: UUID,
    consumer_id: UUID | None = None,
    event_type: str,
    payload: object,
    headers: Mapping[str, Any],
    is_test: bool,
    sender: str = "sql",
) -> EventOutcome:
    """Handle an event once, in the transaction of the connection; return what became of it.

    `sender` is the way it came by, api or sql: a project allows events that manage mail by it.

    An event that cannot be read is refused, for its sender to mend; it is not recorded where the
    caller rolls back.

    Raises:
        InvalidField: the event cannot be read.
        ProjectFull: the project is at a bound; a later delivery may succeed.
    """
    done = await store.consume(
        conn,
        project,
        message_id=message_id,
        consumer_id=consumer_id or DIRECT_CONSUMER,
        event_type=event_type,
        payload=payload,
        headers=headers,
        is_test=is_test,
        sender=sender,
    )
    if done.reason is not None and done.status == "failed" and not done.is_duplicate:
        field, _, why = done.reason.partition(": ")
        raise InvalidField(field, why)
    return done


async def list_page(
    conn: Conn, project_id: UUID, *, filters: EventFilter, before: int | None, limit: int
) -> Page[InboxEvent]:
    """Return a page of events, newest first; `before` is the number of the last one shown."""
    found = await store.list_page(conn, project_id, filters=filters, before=before, limit=limit + 1)
    shown = found[:limit]
    cursor = cursor_of(shown[-1][0]) if len(found) > limit else None
    return Page([one for _, one in shown], cursor)


async def show(conn: Conn, project_id: UUID | None, message_id: UUID) -> list[InboxEventDetail]:
    """Return the event of a message, once for each consumer; of any project for None.

    Raises:
        NotFound: no such message was delivered.
    """
    found = await store.find(conn, project_id, message_id)
    if not found:
        raise NotFound("event", str(message_id))
    return found


async def replay(
    conn: Conn,
    project_id: UUID,
    *,
    message_ids: Sequence[UUID] | None = None,
    filters: EventFilter,
    after: int | None = None,
    limit: int = REPLAY_EVENTS,
    is_dry: bool,
    by: str,
) -> EventReplay:
    """Apply today's rules to one page of events, oldest first.

    A rule that acted on an event before does not act again. A dry run counts and keeps nothing.

    Raises:
        InvalidField: neither ids nor a filter are given, or a value is invalid.
    """
    return await store.replay(
        conn,
        project_id,
        message_ids=message_ids,
        filters=filters,
        after=after,
        limit=limit,
        is_dry=is_dry,
        by=by,
    )
