"""Deliveries as rows: the log, and what workers claim and settle."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.core.outcome import Outcome
from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.storable_text import storable
from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements import webhooks as sql
from mailqueue.queue.outcomes import outcome_values
from mailqueue.webhooks.model import (
    CallResult,
    ClaimedDelivery,
    DeliveryAttemptRow,
    DeliveryFilter,
    DeliveryOfEmail,
    DeliveryPayload,
    DeliveryRow,
    EmailFacts,
    SettledCall,
)


async def list_page(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    *,
    filters: DeliveryFilter,
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
        **asdict(filters),
    }
    return await fetch.many(conn, sql.LIST_WEBHOOK_DELIVERIES, asked, DeliveryRow)


async def list_of_email(conn: Conn, project_id: UUID, email_id: UUID) -> list[DeliveryOfEmail]:
    """Return the deliveries of the newest events of an email, oldest first."""
    asked = {"project_id": project_id, "email_id": email_id}
    return await fetch.many(conn, sql.LIST_DELIVERIES_OF_EMAIL, asked, DeliveryOfEmail)


async def payload_of(conn: Conn, project_id: UUID, event_id: UUID) -> dict[str, Any] | None:
    """Return the payload of an event; None when it is no longer stored."""
    row = {"project_id": project_id, "id": event_id}
    return await fetch.maybe(conn, sql.READ_WEBHOOK_EVENT, row, dict)


async def payloads_of(conn: Conn, delivery_ids: Sequence[UUID]) -> list[DeliveryPayload]:
    """Return what claimed deliveries send."""
    ids = arrays.uuids(delivery_ids)
    return await fetch.many(conn, sql.READ_WEBHOOK_PAYLOADS, {"ids": ids}, DeliveryPayload)


async def are_calls_traced(conn: Conn) -> bool:
    """Return whether calls are marked for the export of their spans."""
    return await fetch.value(conn, sql.ARE_CALLS_TRACED, {}, bool)


async def emails_of(conn: Conn, email_ids: Sequence[UUID]) -> list[EmailFacts]:
    """Return what events in the formats of providers say about their emails."""
    ids = arrays.uuids(email_ids)
    return await fetch.many(conn, sql.READ_WEBHOOK_EMAILS, {"ids": ids}, EmailFacts)


async def email_of(conn: Conn, project_id: UUID, email_id: UUID) -> EmailFacts | None:
    """Return what events in the formats of providers say about an email of a project."""
    asked = {"project_id": project_id, "id": email_id}
    return await fetch.maybe(conn, sql.READ_WEBHOOK_EMAIL, asked, EmailFacts)


async def list_attempts(
    conn: Conn, project_id: UUID, delivery_id: UUID
) -> list[DeliveryAttemptRow]:
    """Return the calls made for a delivery."""
    row = {"project_id": project_id, "delivery_id": delivery_id}
    return await fetch.many(conn, sql.LIST_WEBHOOK_ATTEMPTS, row, DeliveryAttemptRow)


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
    limit: int,
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
        "most": limit,
        "by": by,
    }
    return await fetch.value(conn, sql.RETRY_WEBHOOK_DELIVERIES, row, int)


async def count_retries(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    *,
    statuses: Sequence[str],
    types: Sequence[str] | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
) -> int:
    """Return the number of ended deliveries that `retry` would queue again, at most `limit`."""
    row = {
        "project_id": project_id,
        "webhook_id": webhook_id,
        "statuses": list(statuses),
        "types": None if types is None else list(types),
        "since": since,
        "until": until,
        "most": limit,
    }
    return await fetch.value(conn, sql.COUNT_WEBHOOK_RETRIES, row, int)


async def log_test(
    conn: Conn,
    project_id: UUID,
    webhook_id: UUID,
    *,
    event_id: UUID,
    event_type: str,
    body: bytes,
    done: CallResult,
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
        "headers": Jsonb(dict(done.headers)),
        "response": done.response,
    }
    return await fetch.maybe(conn, sql.LOG_WEBHOOK_TEST, row, UUID)


async def settle(
    conn: Conn,
    spec: QueueSpec,
    ended: Sequence[tuple[ClaimedDelivery, Outcome]],
    results: Sequence[CallResult | None],
) -> tuple[set[UUID], list[UUID]]:
    """Write outcomes, log calls and count them in the circuits; return the deliveries whose claim
    no longer holds, for which nothing is written, and the endpoints to leave alone now.

    `results` has one element for each of `ended`, None where the endpoint was not called.
    """
    values = outcome_values(spec, ended) | {
        "results": arrays.texts([one and one.outcome.value for one in results]),
        "codes": arrays.integers([one and one.code for one in results]),
        "errors": arrays.texts([one and storable(one.error) for one in results]),
        "minimum_waits": arrays.intervals([one and one.wait for one in results]),
        "rests": arrays.booleans([one is not None and one.rests for one in results]),
        "times": arrays.texts([one and one.tried_at.isoformat() for one in results]),
        "took": arrays.integers([one and one.took_ms for one in results]),
        "headers": arrays.documents([one and one.headers for one in results]),
        "responses": arrays.texts([one and storable(one.response) for one in results]),
    }
    found = await fetch.many(conn, sql.SETTLE_WEBHOOK_CALLS, values, SettledCall)
    lost = {one.id for one in found if one.is_lost}
    return lost, [one.id for one in found if not one.is_lost]


async def tidy(conn: Conn, *, limit: int) -> int:
    """Cancel deliveries of endpoints that are gone and delete those of removed ones; return how
    many.
    """
    return await fetch.value(conn, sql.TIDY_WEBHOOKS, {"most": limit}, int)
