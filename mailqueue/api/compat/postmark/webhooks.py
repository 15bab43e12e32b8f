"""Postmark's API: webhooks, which receive events in the format of Postmark.

Follows postmarkapp.com/developer/api/webhooks-api. Webhooks in other formats are not shown here.
"""

from datetime import timedelta

from starlette.responses import Response

from mailqueue.api.compat.model import webhook_endpoint
from mailqueue.api.compat.postmark.faults import ErrorCode, error_of
from mailqueue.api.compat.postmark.model import NoStream
from mailqueue.api.compat.postmark.reading import body_of
from mailqueue.api.compat.postmark.suppressions import category_of_stream
from mailqueue.api.compat.postmark.webhook_model import (
    STREAM,
    AddedWebhook,
    ChangedWebhook,
    PostmarkWebhookQuery,
    login_of,
    shown,
    types_of,
)
from mailqueue.api.compat.reading import query_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import master_key_of
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.formats.model import FormatName
from mailqueue.webhooks.formats.values import number_of
from mailqueue.webhooks.model import WebhookRow

_NAMES = {"url": "Url", "secret": "HttpAuth", "event_types": "Triggers"}


async def create(call: RequestContext) -> Response:
    """Add a webhook."""
    body = await body_of(call, AddedWebhook)
    if body.message_stream != STREAM:
        category_of_stream(body.message_stream)
        why = "has the events of all streams on a webhook of 'outbound'"
        raise NoStream("category", why)
    login, types = login_of(body), types_of(body.triggers)
    async with call.connection() as conn, unlocked(call, own_key_of(call.request), conn):
        try:
            added = await endpoints.add(
                conn,
                call.caller.project_id,
                url=body.url,
                event_types=types,
                description=None,
                secret=login,
                allowed=call.settings.allowed_hosts,
                master=master_key_of(call.settings),
                by=call.by,
                form=FormatName.POSTMARK,
            )
        except InvalidField as exc:
            raise _named(exc) from exc
    return json_answer(shown(added.webhook, added.secret))


async def index(call: RequestContext) -> Response:
    """List webhooks, in the order they were added."""
    query = query_of(call, PostmarkWebhookQuery)
    if query.messagestream is not None:
        category_of_stream(query.messagestream)
    found = [] if query.messagestream not in (None, STREAM) else await _all(call)
    return json_answer({"Webhooks": [shown(one) for one in found]})


async def show(call: RequestContext) -> Response:
    """Show one webhook."""
    return json_answer(shown(await _found(call)))


async def change(call: RequestContext) -> Response:
    """Change URL, login and triggers; what is left out stays."""
    body = await body_of(call, ChangedWebhook)
    login, project_id = login_of(body), call.caller.project_id
    one = await _found(call)
    types = None if body.triggers is None else types_of(body.triggers, one.event_types)
    secret: Secret | None = None
    own = own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn), conn.transaction():
        try:
            one = await endpoints.change(
                conn,
                project_id,
                one.id,
                url=body.url,
                event_types=types,
                allowed=call.settings.allowed_hosts,
                by=call.by,
            )
            if login is not None:
                one, secret = await _rotated(call, conn, one, login)
        except InvalidField as exc:
            raise _named(exc) from exc
    return json_answer(shown(one, secret))


async def remove(call: RequestContext) -> Response:
    """Remove a webhook."""
    one = await _found(call)
    async with call.connection() as conn:
        await endpoints.remove(conn, call.caller.project_id, one.id, by=call.by)
    return json_answer(error_of(ErrorCode.OK, f"Webhook {number_of(one.id)} removed."))


async def _rotated(
    call: RequestContext, conn: Conn, one: WebhookRow, login: str
) -> tuple[WebhookRow, Secret]:
    made = await endpoints.rotate(
        conn,
        call.caller.project_id,
        one.id,
        secret=login,
        overlap=timedelta(0),
        master=master_key_of(call.settings),
        by=call.by,
    )
    return made.webhook, made.secret


async def _all(call: RequestContext) -> list[WebhookRow]:
    async with call.connection() as conn:
        found = await endpoints.list_page(
            conn, call.caller.project_id, limit=endpoints.MAX_WEBHOOKS
        )
    return [one for one in found if one.format == FormatName.POSTMARK]


async def _found(call: RequestContext) -> WebhookRow:
    """Return the webhook whose number is in the path.

    Raises:
        NotFound: there is none in this format.
    """
    number = call.path["webhook_number"]
    for one in await _all(call):
        if str(number_of(one.id)) == number:
            return one
    raise NotFound("webhook", number[:100])


def _named(exc: InvalidField) -> InvalidField:
    """Return an error with Postmark's name of its field. Pure."""
    return exc.named(_NAMES.get(exc.field, exc.field))


_ONE = "/webhooks/{webhook_number}"
WEBHOOK_ENDPOINTS = (
    webhook_endpoint("POST", "/webhooks", "Add a webhook.", create),
    webhook_endpoint("GET", "/webhooks", "List webhooks.", index),
    webhook_endpoint("GET", _ONE, "Show a webhook.", show),
    webhook_endpoint("PUT", _ONE, "Change a webhook.", change),
    webhook_endpoint("DELETE", _ONE, "Remove a webhook.", remove),
)
