"""Endpoints of events: deliver, list, show, replay."""

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.inbox.rules import RULE_ENDPOINTS
from mailqueue.api.inbox.schema import DeliverEvent, InboxQuery, ReplayEvents
from mailqueue.contract.automation.inbox import (
    EventOutcome,
    EventReplay,
    InboxDeliveries,
    InboxEvent,
)
from mailqueue.contract.page import Page
from mailqueue.core.paging import key_of
from mailqueue.inbox import events
from mailqueue.inbox.model import EventFilter
from mailqueue.projects.model import Scope

_TAG = "Events"
PATH = "/v1/events"


async def deliver(call: RequestContext) -> EventOutcome:
    """Deliver an event."""
    body: DeliverEvent = call.body
    async with call.connection() as conn:
        return await events.deliver(
            conn,
            call.caller.project,
            message_id=body.message_id,
            consumer_id=body.consumer_id,
            event_type=body.type,
            payload=body.payload,
            headers=body.headers,
            is_test=call.caller.is_test,
            sender="api",
        )


async def list_(call: RequestContext) -> Page[InboxEvent]:
    """List events, newest first."""
    query: InboxQuery = call.query
    (before,) = key_of(query.cursor, int)
    filters = EventFilter(query.type, query.status, query.since, query.until)
    async with call.connection() as conn:
        return await events.list_page(
            conn, call.caller.project_id, filters=filters, before=before, limit=query.limit
        )


async def show(call: RequestContext) -> InboxDeliveries:
    """Return the event of a message."""
    async with call.connection() as conn:
        return InboxDeliveries(await events.show(conn, call.caller.project_id, call.id("event_id")))


async def replay(call: RequestContext) -> EventReplay:
    """Replay events of the inbox."""
    body: ReplayEvents = call.body
    (after,) = key_of(body.cursor, int)
    async with call.connection() as conn:
        return await events.replay(
            conn,
            call.caller.project_id,
            message_ids=body.message_ids,
            filters=EventFilter(body.type, body.status, body.since, body.until),
            after=after,
            limit=body.limit,
            is_dry=body.dry_run,
            by=call.by,
        )


ENDPOINTS = (
    Endpoint(
        "POST",
        PATH,
        Scope.EMAIL_SEND,
        "Deliver an event.",
        deliver,
        request=DeliverEvent,
        response=EventOutcome,
        tag=_TAG,
        once=Once.NEVER,
        example={
            "message_id": "0197b8f0-0000-7000-8000-000000000081",
            "type": "PlaceOrderCommand",
            "payload": {
                "orderId": "81",
                "total": 120.5,
                "customer": {"name": "Ann Lee", "email": "ann@example.com"},
            },
            "headers": {"CorrelationId": "order-81"},
        },
        description="The enabled event rules of its type are applied, once for each `message_id`: "
        "another delivery gets the answer of the first. A rule that fails does not fail the "
        "request: the answer says why, and a replay tries it again.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        PATH,
        Scope.EMAIL_READ,
        "List events, newest first.",
        list_,
        query=InboxQuery,
        response=Page[InboxEvent],
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{PATH}/replay",
        Scope.EMAIL_SEND,
        "Replay events by today's rules.",
        replay,
        request=ReplayEvents,
        response=EventReplay,
        tag=_TAG,
        example={"status": "failed", "since": "2026-11-20T08:00:00Z", "dry_run": True},
        description="Oldest first, at most 500 per request: repeat with `next_cursor`. A rule that "
        "acted on an event before does not act again.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{PATH}/{{event_id}}",
        Scope.EMAIL_READ,
        "Show what became of an event.",
        show,
        response=InboxDeliveries,
        tag=_TAG,
        description="With its payload, once for each consumer that it was delivered to.",
        test_keys=ForTestKeys.OWN,
    ),
    *RULE_ENDPOINTS,
)
