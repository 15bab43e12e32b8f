"""Pages that deliver again, one delivery or all that match, and that test a webhook."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.webhooks.filters import NAMES, RETRIED, TYPES, DeliveryFilters, read_filters
from mailqueue.console.webhooks.pages import DELIVERY, WEBHOOK, find_webhook
from mailqueue.contract.webhooks import WebhookTest
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import master_key_of
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence
from mailqueue.webhooks import deliveries, trial
from mailqueue.webhooks.model import TEST_TYPE, WebhookRow

TEST_TYPES = ((TEST_TYPE, TEST_TYPE), *TYPES[1:])


async def ask_retry(context: PageContext) -> Response:
    """Show how many deliveries match, and the form that makes them again."""
    return await _retry(context, read_filters(context.request.query_params, of_retry=True))


async def retry_many(context: PageContext) -> Response:
    """Make all deliveries again that match."""
    filters = read_filters(context.form, of_retry=True)
    if filters.faults:
        return await _retry(context, filters)
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
    try:
        async with context.acting_once() as conn:
            count = await _retried(context, conn, webhook, filters, is_dry=False)
    except DoneBefore:
        return context.redirect(
            project_path(context.seen.name, "webhooks", webhook.id, done="before")
        )
    except Conflict as exc:
        return await _retry(context, filters, sentence(str(exc)))
    return context.redirect(project_path(context.seen.name, "webhooks", webhook.id, retried=count))


async def retry_one(context: PageContext) -> Response:
    """Make one delivery again.

    Raises:
        Conflict: it has not ended, its payload is gone, or the webhook is disabled.
    """
    done = "again"
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
    delivery_id = context.id_in_path("delivery_id", "delivery")
    try:
        async with context.acting_once() as conn:
            await deliveries.retry(
                conn, context.seen.id, webhook.id, delivery_id, by=context.user.by
            )
    except DoneBefore:
        done = "before"
    return context.redirect(
        project_path(
            context.seen.name, "webhooks", webhook.id, "deliveries", delivery_id, done=done
        )
    )


async def ask_test(context: PageContext) -> Response:
    """Show the form that sends a test event."""
    return await _tested(context, None)


async def test(context: PageContext) -> Response:
    """Send a test event at once, and show the answer."""
    kind = text_of(context.form, "type")
    try:
        async with context.acting_once() as conn:
            webhook = await find_webhook(context, conn)
    except DoneBefore:
        return await _tested(context, None, was_before=True)

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with context.connection() as conn:
            yield conn

    poster = context.console.make_poster()
    try:
        result = await trial.try_out(
            lend,
            context.seen.id,
            webhook.id,
            event_type=kind or None,
            poster=poster,
            master=master_key_of(context.console.settings),
        )
    except InvalidField as exc:
        return await _tested(context, None, fault=sentence(exc.why))
    finally:
        poster.close()
    return await _tested(context, result)


async def _retry(context: PageContext, filters: DeliveryFilters, refused: str = "") -> Response:
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
        count = 0
        if webhook.is_enabled and not filters.faults:
            count = await _retried(context, conn, webhook, filters, is_dry=True)
    status = HTTPStatus.CONFLICT if refused else HTTPStatus.OK
    return context.page(
        "webhooks/retry.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if filters.faults else status,
        webhook=webhook,
        filters=filters,
        statuses=RETRIED,
        types=TYPES,
        count=count,
        is_more=count == deliveries.MAX_RETRIED,
        refused=refused,
    )


async def _retried(
    context: PageContext,
    conn: Conn,
    webhook: WebhookRow,
    filters: DeliveryFilters,
    *,
    is_dry: bool,
) -> int:
    return await deliveries.retry_many(
        conn,
        context.seen.id,
        webhook.id,
        since=filters.since,
        until=filters.until,
        statuses=filters.retried,
        types=None if filters.type is None else [filters.type],
        is_dry=is_dry,
        by=context.user.by,
    )


async def _tested(
    context: PageContext, result: WebhookTest | None, *, was_before: bool = False, fault: str = ""
) -> Response:
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
    return context.page(
        "webhooks/test.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if fault else HTTPStatus.OK,
        webhook=webhook,
        result=result,
        types=TEST_TYPES,
        typed=context.form,
        faults={"type": fault} if fault else {},
        was_before=was_before,
    )


PAGES = (
    ConsolePage("GET", f"{WEBHOOK}/retry", Right.CONTROL, ask_retry),
    ConsolePage("POST", f"{WEBHOOK}/retry", Right.CONTROL, retry_many, keeps=NAMES),
    ConsolePage("POST", f"{DELIVERY}/retry", Right.CONTROL, retry_one),
    ConsolePage("GET", f"{WEBHOOK}/test", Right.CONTROL, ask_test),
    ConsolePage("POST", f"{WEBHOOK}/test", Right.CONTROL, test, keeps=("type",)),
)
