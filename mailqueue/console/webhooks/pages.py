"""The webhooks of a project, one of them with its deliveries, and one delivery."""

from datetime import UTC, datetime

import orjson
from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.webhooks.filters import STATUSES, TYPES, read_filters, since_yesterday
from mailqueue.core.json.writing import write_json
from mailqueue.db.fetch import Conn
from mailqueue.webhooks import deliveries, endpoints
from mailqueue.webhooks.model import ENDED, DeliveryRow, WebhookRow

PATH = "/console/projects/{project}/webhooks"
WEBHOOK = f"{PATH}/{{webhook_id}}"
DELIVERY = f"{WEBHOOK}/deliveries/{{delivery_id}}"
PAGE_ROWS = 50
DONE = {
    "changed": "The webhook was changed.",
    "enabled": "The webhook is enabled. Deliveries that waited are made now.",
    "disabled": "The webhook is disabled. Events that happen meanwhile are never delivered to it.",
    "removed": "The webhook and its log were removed.",
    "again": "The delivery is made again now.",
    "before": "This was done before, and was not done again.",
}


async def show_webhooks(context: PageContext) -> Response:
    """List webhooks in the order in which they were added."""
    async with context.connection() as conn:
        found = await endpoints.list_page(conn, context.seen.id, limit=endpoints.MAX_WEBHOOKS)
    return context.page(
        "webhooks/list.html",
        webhooks=found,
        yesterday=since_yesterday(datetime.now(UTC)),
        done=DONE.get(context.query("done"), ""),
    )


async def show_webhook(context: PageContext) -> Response:
    """Show one webhook and its deliveries, newest first, with filters."""
    filters = read_filters(context.request.query_params)
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
        found: list[DeliveryRow] = []
        if not filters.faults:
            found = await deliveries.list_page(
                conn,
                context.seen.id,
                webhook.id,
                filters=filters.where,
                before=filters.before,
                limit=PAGE_ROWS + 1,
            )
    shown = found[:PAGE_ROWS]
    retried = int(context.query("retried")) if context.query("retried").isdecimal() else None
    return context.page(
        "webhooks/webhook.html",
        webhook=webhook,
        deliveries=shown,
        filters=filters,
        statuses=STATUSES,
        types=TYPES,
        following=shown[-1].id if len(found) > PAGE_ROWS else None,
        yesterday=since_yesterday(datetime.now(UTC)),
        done=DONE.get(context.query("done"), ""),
        retried=retried,
    )


async def show_delivery(context: PageContext) -> Response:
    """Show one delivery: what was sent, and the answer to each attempt."""
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
        log = await deliveries.show(
            conn, context.seen.id, webhook.id, context.id_in_path("delivery_id", "delivery")
        )
    return context.page(
        "webhooks/delivery.html",
        webhook=webhook,
        log=log,
        payload=None if log.payload is None else _indented(log.payload),
        has_ended=log.delivery.status in ENDED,
        done=DONE.get(context.query("done"), ""),
    )


def _indented(payload: object) -> str:
    return write_json(payload, option=orjson.OPT_INDENT_2).decode()


async def find_webhook(context: PageContext, conn: Conn) -> WebhookRow:
    """Return the webhook in the path.

    Raises:
        NotFound: the project has no such webhook.
    """
    return await endpoints.find(conn, context.seen.id, context.id_in_path("webhook_id", "webhook"))


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_webhooks, menu=MenuEntry("Webhooks", "Programs")),
    ConsolePage("GET", WEBHOOK, Right.READ, show_webhook),
    ConsolePage("GET", DELIVERY, Right.READ_MESSAGES, show_delivery),
)
