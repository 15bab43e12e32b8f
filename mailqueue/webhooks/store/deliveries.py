"""Deliveries as rows: the log, and what workers claim and settle."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from psycopg.types.json import Jsonb

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.webhooks.model import (
    ClaimedDelivery,
    DeliveryAttemptRow,
    DeliveryFilter,
    DeliveryRow,
    SettledDelivery,
)


class SettleNotice(NamedTuple):
    """An answer of settle: an endpoint whose circuit opened, or a claim that no longer held."""

    webhook_id: UUID | None
    delivery_id: UUID | None


async def list_page(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    *,
    wanted: DeliveryFilter,
    delivery_id: UUID | None = None,
    before: UUID | None = None,
    limit: int,
) -> list[DeliveryRow]:
    """Return the delivery log of a webhook, the newest first."""
    asked = {
        "project_id": project_id,
        "webhook_id": webhook_id,
        "id": delivery_id,
        "before": before,
        "limit": limit,
        **asdict(wanted),
    }
    return await fetch.many(conn, "list_webhook_deliveries", asked, DeliveryRow)


async def payload_of(conn: Conn, project_id: UUID, event_id: UUID) -> dict[str, Any] | None:
    """Return the payload of an event; None when it is no longer stored."""
    row = {"project_id": project_id, "id": event_id}
    return await fetch.maybe(conn, "read_webhook_event", row, dict)


async def list_attempts(
    conn: Conn, project_id: UUID, delivery_id: UUID
) -> list[DeliveryAttemptRow]:
    """Return the calls made for a delivery."""
    row = {"project_id": project_id, "delivery_id": delivery_id}
    return await fetch.many(conn, "list_webhook_attempts", row, DeliveryAttemptRow)


async def retry(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    *,
    ids: Sequence[UUID] | None,
    statuses: Sequence[str],
    types: Sequence[str] | None,
    since: datetime | None,
    until: datetime | None,
    most: int,
    by: str,
) -> int:
    """Queue ended deliveries again; return their number."""
    row = {
        "project_id": project_id,
        "webhook_id": webhook_id,
        "ids": None if ids is None else list(ids),
        "statuses": list(statuses),
        "types": None if types is None else list(types),
        "since": since,
        "until": until,
        "most": most,
        "by": by,
    }
    return await fetch.value(conn, "retry_webhook_deliveries", row, int)


async def log_test(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    *,
    event_id: UUID,
    event_type: str,
    body: bytes,
    done: SettledDelivery,
) -> UUID | None:
    """Log a test; return the id of its delivery, None when the webhook is gone."""
    row = {
        "project_id": project_id,
        "webhook_id": webhook_id,
        "event_id": event_id,
        "type": event_type,
        "payload": body.decode(),
        "at": done.tried_at,
        "code": done.code,
        "error": done.error,
        "took_ms": done.took_ms,
        "headers": Jsonb(dict(done.headers or {})),
        "response": done.response,
    }
    return await fetch.maybe(conn, "log_webhook_test", row, UUID)


async def claim(
    conn: Conn,
    *,
    by: str,
    limit: int,
    lease: timedelta,
    first: int,
    room: Mapping[UUID, int],
) -> list[ClaimedDelivery]:
    """Claim due deliveries: at most `room` of each known endpoint, `first` of each other one."""
    row = {
        "by": by,
        "limit": limit,
        "lease": lease,
        "first": first,
        "webhooks": list(room),
        "room": list(room.values()),
    }
    return await fetch.many(conn, "claim_webhook_deliveries", row, ClaimedDelivery)


async def settle(conn: Conn, done: Sequence[SettledDelivery]) -> list[SettleNotice]:
    """Settle claims; return endpoints to block, and claims that no longer held."""
    row = {
        "ids": [one.id for one in done],
        "claims": [one.claim_no for one in done],
        "endings": [one.ending.value for one in done],
        "codes": [one.code for one in done],
        "errors": [one.error for one in done],
        "waits": [one.wait for one in done],
        "rests": [one.rests for one in done],
        "times": [one.tried_at for one in done],
        "took": [one.took_ms for one in done],
        "headers": [orjson.dumps(one.headers or {}).decode() for one in done],
        "responses": [one.response for one in done],
    }
    return await fetch.many(conn, "settle_webhook_deliveries", row, SettleNotice)


async def tidy(conn: Conn, *, most: int) -> int:
    """Rescue expired claims and delete expired rows; return their number."""
    return await fetch.value(conn, "tidy_webhooks", {"most": most}, int)
