"""Events as rows; the only file here that runs SQL."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.contract.emails import RecipientEvent, RecordedEvent
from mailqueue.contract.operations import Notice
from mailqueue.core.storable_text import storable, storable_json
from mailqueue.db.fetch import Conn, many, value
from mailqueue.db.statements.events import events as sql
from mailqueue.events.model import EventQuery, RecordResult, ReportedEvent


class _Recorded(NamedTuple):
    n: int
    result: str


async def record_events(conn: Conn, events: Sequence[ReportedEvent]) -> list[RecordResult]:
    """Record events and their consequences; return the result of each, in order.

    Suppressions, bounces and webhook deliveries commit with the caller's transaction.
    """
    if not events:
        return []
    rows = list[dict[str, Any]]()
    for event in events:  # without characters PostgreSQL cannot store
        at = event.occurred_at
        row: dict[str, Any] = {
            "source": storable(event.source),
            "type": event.type.value,
            "account": event.account,
            "event_id": storable(event.event_id),
            "email_id": None if event.email_id is None else str(event.email_id),
            "provider_message_id": storable(event.provider_message_id),
            "message_id": storable(event.message_id),
            "recipient": storable(event.recipient),
            "occurred_at": at and (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat(),
            "code": storable(event.code),
            "detail": storable(event.detail),
            "suppress": None if event.suppress is None else event.suppress.value,
            "data": storable_json(event.data) if event.data else None,
        }
        rows.append({name: value for name, value in row.items() if value is not None})
    found = await many(conn, sql.RECORD_EVENTS, {"events": json.dumps(rows)}, _Recorded)
    return [RecordResult(one.result) for one in found]


async def list_events(conn: Conn, query: EventQuery) -> list[RecordedEvent]:
    """Return events, the latest recorded first."""
    return await many(conn, sql.LIST_EVENTS, query.params(), RecordedEvent)


async def list_recipient(
    conn: Conn,
    project_id: UUID,
    address: str,
    *,
    before: tuple[datetime | None, UUID | None] = (None, None),
    limit: int,
) -> list[RecipientEvent]:
    """Return everything that happened to mail to one address, newest first."""
    params = {
        "project_id": project_id,
        "address": address,
        "before": before[0],
        "before_id": before[1],
        "limit": limit,
    }
    return await many(conn, sql.LIST_RECIPIENT_EVENTS, params, RecipientEvent)


async def list_notices(
    conn: Conn, *, project: str | None, is_all: bool, limit: int
) -> list[Notice]:
    """Return the notices for administrators, newest first."""
    params = {"project": project, "is_all": is_all, "limit": limit}
    return await many(conn, sql.LIST_NOTICES, params, Notice)


async def see_notices(conn: Conn, project_id: UUID | None, *, by: str) -> int:
    """Mark notices as seen; return how many were new."""
    return await value(conn, sql.SEE_NOTICES, {"project_id": project_id, "by": by}, int)
