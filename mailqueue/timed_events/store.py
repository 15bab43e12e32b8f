"""SQL of timed events and birthday rules."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.errors import DatabaseError
from psycopg.types.json import Jsonb

from mailqueue.contract.automation.timed_events import BirthdayRule, PutTimedEvent, TimedEvent
from mailqueue.core.errors import Conflict
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import timed_events as sql
from mailqueue.timed_events.model import AddedEvent, ClaimedEvent, FiredEvent, TimedEventFilter

STALE = "MQ003"
"""SQLSTATE of a change of an event that has another version, or is not pending."""


async def fire(conn: Conn, rows: Sequence[ClaimedEvent]) -> list[FiredEvent]:
    """Write the mail and webhook calls of claimed events; return what became of each."""
    values = {
        "ids": arrays.uuids([row.id for row in rows]),
        "claims": arrays.integers([row.claim_no for row in rows]),
    }
    return await fetch.many(conn, sql.FIRE_TIMED_EVENTS, values, FiredEvent)


async def plan_birthdays(conn: Conn, *, limit: int) -> int:
    """Plan the birthdays of contacts whose rule or zone has changed; return how many."""
    return await fetch.value(conn, sql.PLAN_BIRTHDAYS, {"most": limit}, int)


async def recompute(conn: Conn, *, limit: int) -> int:
    """Compute events by the present zone rules; return how many."""
    return await fetch.value(conn, sql.RECOMPUTE_TIMED_EVENTS, {"most": limit}, int)


async def end_delivered(conn: Conn, *, after: UUID | None, limit: int) -> UUID | None:
    """End events whose delivery has ended; return the last that was examined."""
    values = {"after": after, "most": limit}
    return await fetch.maybe(conn, sql.END_DELIVERED_TIMED_EVENTS, values, UUID)


async def list_page(
    conn: Conn,
    project_id: UUID | None,
    *,
    event_id: UUID | None = None,
    filters: TimedEventFilter,
    before: UUID | None,
    limit: int,
) -> list[TimedEvent]:
    """Return events, newest first, with ids before one; of any project for None.

    An index has the events of a project by status, in the order of the list.
    """
    values = {
        "project_id": project_id,
        "id": event_id,
        "kind": filters.kind,
        "status": filters.status,
        "contact_id": filters.contact_id,
        "since": filters.since,
        "until": filters.until,
        "before": before,
        "limit": limit,
    }
    one_status = project_id is not None and event_id is None and filters.status is not None
    name = sql.LIST_TIMED_EVENTS_OF_STATUS if one_status else sql.LIST_TIMED_EVENTS
    return await fetch.many(conn, name, values, TimedEvent)


async def add(
    conn: Conn,
    project_id: UUID,
    *,
    kind: str,
    at: datetime | None,
    local_at: datetime | None,
    time_zone: str | None,
    contact_id: UUID | None,
    payload: Mapping[str, Any],
    template: str | None,
    recipient: str | None,
    webhook_id: UUID | None,
    idempotency_key: str | None,
    is_test: bool,
    by: str,
) -> PutTimedEvent:
    """Add an event, or find the one with its idempotency key.

    Raises:
        InvalidField: a field is invalid.
    """
    values = {
        "project_id": project_id,
        "kind": kind,
        "at": at,
        "local_at": local_at,
        "time_zone": time_zone,
        "contact_id": contact_id,
        "payload": Jsonb(payload),
        "template": template,
        "recipient": recipient,
        "webhook_id": webhook_id,
        "idempotency_key": idempotency_key,
        "is_test": is_test,
        "by": by,
    }
    with refusals(otherwise="at"):
        async with conn.transaction():
            made = await fetch.one(conn, sql.ADD_TIMED_EVENT, values, AddedEvent)
            found = await list_page(
                conn,
                project_id,
                event_id=made.id,
                filters=TimedEventFilter(),
                before=None,
                limit=1,
            )
    return PutTimedEvent(found[0], made.is_new)


async def change(
    conn: Conn, project_id: UUID, event_id: UUID, *, version: int, given: Mapping[str, Any]
) -> bool:
    """Change fields of a pending event; return False where there is none.

    Raises:
        Conflict: it has another version, or is not pending.
        InvalidField: a field is invalid.
    """
    values = {
        "project_id": project_id,
        "id": event_id,
        "version": version,
        "given": Jsonb(given),
    }
    with _conflicts(), refusals(otherwise="change"):
        async with conn.transaction():
            return await fetch.value(conn, sql.CHANGE_TIMED_EVENT, values, bool)


async def cancel(
    conn: Conn, project_id: UUID, event_id: UUID, *, version: int | None, by: str
) -> bool:
    """Cancel a pending event; return False where there is none.

    Raises:
        Conflict: it has another version, or is not pending.
    """
    values = {"project_id": project_id, "id": event_id, "version": version, "by": by}
    with _conflicts():
        async with conn.transaction():
            return await fetch.value(conn, sql.CANCEL_TIMED_EVENT, values, bool)


async def find_rule(conn: Conn, project_id: UUID) -> BirthdayRule | None:
    """Return the birthday rule of a project; None where it has none."""
    return await fetch.maybe(conn, sql.FIND_BIRTHDAY_RULE, {"project_id": project_id}, BirthdayRule)


async def put_rule(
    conn: Conn,
    project_id: UUID,
    *,
    local_time: str,
    leap_day: str,
    template: str | None,
    webhook_id: UUID | None,
    payload: Mapping[str, Any],
    by: str,
) -> None:
    """Set the birthday rule of a project.

    Raises:
        InvalidField: a field is invalid.
    """
    values = {
        "project_id": project_id,
        "local_time": local_time,
        "leap_day": leap_day,
        "template": template,
        "webhook_id": webhook_id,
        "payload": Jsonb(payload),
        "by": by,
    }
    with refusals(otherwise="local_time"):
        async with conn.transaction():
            await fetch.run(conn, sql.PUT_BIRTHDAY_RULE, values)


async def remove_rule(conn: Conn, project_id: UUID, *, by: str) -> bool:
    """End the birthdays of a project; return False where it has none."""
    values = {"project_id": project_id, "by": by}
    return await fetch.value(conn, sql.REMOVE_BIRTHDAY_RULE, values, bool)


@contextmanager
def _conflicts() -> Iterator[None]:
    try:
        yield
    except DatabaseError as exc:
        if exc.sqlstate != STALE:
            raise
        raise Conflict(exc.diag.message_primary or "the event has changed") from exc
