"""Resend's API: the events of a webhook, each with its attempts, and the secret that signs them.

Follows resend.com/docs/api-reference/webhooks and the types of its Python client 2.51. The id of an
event is that of its delivery to the webhook.
"""

from typing import Any
from uuid import UUID, uuid5

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.model import webhook_endpoint
from mailqueue.api.compat.reading import query_of
from mailqueue.api.compat.resend.pages import DEFAULT_LIMIT, MAX_LIMIT, list_answer
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.compat.resend.webhooks import webhook_of_path
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.json.reading import read_json
from mailqueue.vault.masterkey import master_key_of
from mailqueue.webhooks import deliveries, endpoints
from mailqueue.webhooks.formats.resend import TYPES
from mailqueue.webhooks.model import DeliveryAttemptRow, DeliveryRow, DeliveryStatus, EventType

_STATUSES = {
    DeliveryStatus.PENDING: "pending",
    DeliveryStatus.ASSIGNED: "attempting",
    DeliveryStatus.DELIVERED: "success",
    DeliveryStatus.FAILED: "failed",
    DeliveryStatus.CANCELLED: "failed",
}


class WebhookEventPage(RequestModel):
    """The query of a list of events or attempts: up to `limit` that are older than `after`."""

    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    after: UUID | None = None


async def index(call: RequestContext) -> Response:
    """List the events of a webhook, newest first."""
    query = query_of(call, WebhookEventPage)
    async with call.connection() as conn:
        webhook = await webhook_of_path(call, conn)
        found = await deliveries.list_page(
            conn, call.caller.project_id, webhook.id, before=query.after, limit=query.limit + 1
        )
    page = found[: query.limit]
    return list_answer([_listed(one) for one in page], len(found) > query.limit)


async def show(call: RequestContext) -> Response:
    """Show an event with what is sent; null once that is no longer stored."""
    async with call.connection() as conn:
        webhook = await webhook_of_path(call, conn)
        event_id = call.id("delivery_id")
        found = await deliveries.find(conn, call.caller.project_id, webhook.id, event_id)
        sent = await deliveries.body_of(conn, webhook, found)
    is_waiting = found.status == DeliveryStatus.PENDING
    return json_answer(
        {
            "object": "webhook_event",
            **_listed(found),
            "next_attempt_at": stamp(found.run_at) if is_waiting else None,
            "payload": None if sent is None else read_json(sent),
        }
    )


async def attempts(call: RequestContext) -> Response:
    """List the attempts to deliver an event, newest first."""
    query = query_of(call, WebhookEventPage)
    async with call.connection() as conn:
        webhook = await webhook_of_path(call, conn)
        event_id = call.id("delivery_id")
        log = await deliveries.show(conn, call.caller.project_id, webhook.id, event_id)
    tried = [_attempt(event_id, one) for one in reversed(log.attempts)]
    ids = [one["id"] for one in tried]
    older = tried[ids.index(query.after) + 1 :] if query.after in ids else tried
    return list_answer(older[: query.limit], len(older) > query.limit)


async def replay(call: RequestContext) -> Response:
    """Deliver an event again, from the first attempt."""
    async with call.connection() as conn:
        webhook = await webhook_of_path(call, conn)
        event_id = call.id("delivery_id")
        await deliveries.retry(conn, call.caller.project_id, webhook.id, event_id, by=call.by)
    return json_answer({"object": "webhook_event", "id": event_id})


async def rotate(call: RequestContext) -> Response:
    """Sign with a new secret; the previous one signs too, for a day."""
    async with call.connection() as conn, unlocked(call, own_key_of(call.request), conn):
        webhook = await webhook_of_path(call, conn)
        made = await endpoints.rotate(
            conn,
            call.caller.project_id,
            webhook.id,
            secret=None,
            overlap=endpoints.DEFAULT_OVERLAP,
            master=master_key_of(call.settings),
            by=call.by,
        )
    document = {"object": "webhook", "id": webhook.id}
    return json_answer({**document, "signing_secret": made.secret.reveal()})


def _listed(one: DeliveryRow) -> dict[str, Any]:
    kind = TYPES.get(EventType(one.type)) if one.type in set(EventType) else None
    status = _STATUSES[DeliveryStatus(one.status)]
    if one.status == DeliveryStatus.PENDING and one.attempts:
        status = "attempting"
    return {
        "id": one.id,
        "type": kind or one.type,
        "created_at": stamp(one.created_at),
        "status": status,
    }


def _attempt(event_id: UUID, one: DeliveryAttemptRow) -> dict[str, Any]:
    return {
        "id": uuid5(event_id, one.tried_at.isoformat()),
        "http_status_code": one.status_code,
        "response": one.response or one.error or "",
        "sent_at": stamp(one.tried_at),
    }


_EVENTS = "/webhooks/{webhook_id}/events"
WEBHOOK_EVENT_ENDPOINTS = (
    webhook_endpoint("GET", _EVENTS, "List the events of a webhook.", index),
    webhook_endpoint("GET", f"{_EVENTS}/{{delivery_id}}", "Show an event of a webhook.", show),
    webhook_endpoint(
        "GET", f"{_EVENTS}/{{delivery_id}}/attempts", "List the attempts to deliver it.", attempts
    ),
    webhook_endpoint("POST", f"{_EVENTS}/{{delivery_id}}/replay", "Deliver it again.", replay),
    webhook_endpoint(
        "POST",
        "/webhooks/{webhook_id}/signing-secret/rotate",
        "Sign with a new secret.",
        rotate,
    ),
)
