"""Endpoints of webhook deliveries: list, show, retry, test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.http.pagination import page_of
from mailqueue.api.webhooks.schema import (
    LogQuery,
    RangeRetry,
    TestAsked,
)
from mailqueue.contract.page import Page
from mailqueue.contract.webhooks import (
    Delivery,
    DeliveryDetail,
    RetriedDeliveries,
    WebhookTest,
)
from mailqueue.core.paging import key_of
from mailqueue.db.fetch import Conn
from mailqueue.projects.model import Scope
from mailqueue.vault.masterkey import master_key_of
from mailqueue.webhooks import deliveries, trial
from mailqueue.webhooks.model import DeliveryFilter
from mailqueue.webhooks.values import delivery_detail_of, delivery_of

_TAG = "Webhooks"
_ONE = "/v1/webhooks/{webhook_id}"


async def index(call: RequestContext) -> Page[Delivery]:
    """List deliveries, newest first."""
    query: LogQuery = call.query
    (before,) = key_of(query.cursor, UUID)
    wanted = DeliveryFilter(
        status=query.status,
        type=query.type,
        since=query.since,
        until=query.until,
        email_id=query.email_id,
    )
    async with call.connection() as conn:
        found = await deliveries.list_page(
            conn,
            call.caller.project_id,
            call.id("webhook_id"),
            filters=wanted,
            before=before,
            limit=query.limit + 1,
        )
    return page_of(found, query.limit, key=lambda one: (one.id,)).map(delivery_of)


async def show(call: RequestContext) -> DeliveryDetail:
    """Return a delivery with its payload and attempts."""
    async with call.connection() as conn:
        found = await deliveries.show(
            conn, call.caller.project_id, call.id("webhook_id"), call.id("delivery_id")
        )
    return delivery_detail_of(found)


async def retry(call: RequestContext) -> Delivery:
    """Retry one delivery."""
    async with call.connection() as conn:
        found = await deliveries.retry(
            conn,
            call.caller.project_id,
            call.id("webhook_id"),
            call.id("delivery_id"),
            by=call.by,
        )
    return delivery_of(found)


async def retry_many(call: RequestContext) -> RetriedDeliveries:
    """Retry the deliveries of a period."""
    body: RangeRetry = call.body
    async with call.connection() as conn:
        count = await deliveries.retry_many(
            conn,
            call.caller.project_id,
            call.id("webhook_id"),
            since=body.since,
            until=body.until,
            statuses=body.statuses,
            types=list(body.types),
            limit=body.limit,
            is_dry=body.dry_run,
            by=call.by,
        )
    return RetriedDeliveries(count)


async def test(call: RequestContext) -> WebhookTest:
    """Send a test event and return the response."""
    body: TestAsked = call.body
    own = own_key_of(call.request)

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with call.connection() as conn, unlocked(call, own, conn):
            yield conn

    poster = call.services.make_poster()
    try:
        return await trial.try_out(
            lend,
            call.caller.project_id,
            call.id("webhook_id"),
            event_type=body.type,
            poster=poster,
            master=master_key_of(call.settings),
        )
    finally:
        poster.close()


LOG_ENDPOINTS = (
    Endpoint(
        "POST",
        f"{_ONE}/test",
        Scope.WEBHOOK_MANAGE,
        "Send a test event to a webhook and return the response.",
        test,
        request=TestAsked,
        response=WebhookTest,
        tag=_TAG,
        once=Once.APART,
        example={"type": "email.delivered"},
        description="The event is signed and logged like any other; it is not retried.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        f"{_ONE}/deliveries",
        Scope.WEBHOOK_MANAGE,
        "List deliveries, newest first.",
        index,
        query=LogQuery,
        response=Page[Delivery],
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/deliveries/retry",
        Scope.WEBHOOK_MANAGE,
        "Retry the deliveries of a period.",
        retry_many,
        request=RangeRetry,
        response=RetriedDeliveries,
        tag=_TAG,
        example={"since": "2026-11-20T08:00:00Z", "until": "2026-11-20T12:00:00Z"},
        description="Failed and cancelled deliveries, unless `statuses` names others. At most "
        "10,000 per request: repeat until none is left. With `dry_run` they are only counted.",
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        f"{_ONE}/deliveries/{{delivery_id}}",
        Scope.WEBHOOK_MANAGE,
        "Show a delivery with its payload and attempts.",
        show,
        response=DeliveryDetail,
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/deliveries/{{delivery_id}}/retry",
        Scope.WEBHOOK_MANAGE,
        "Retry a delivery from the first attempt.",
        retry,
        response=Delivery,
        tag=_TAG,
        test_keys=ForTestKeys.OWN,
    ),
)
