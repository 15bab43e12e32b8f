"""Resend's API: webhooks, which receive events in the format and with the signature of Resend.

Follows resend.com/docs/api-reference/webhooks and the types of its Python client 2.51. Webhooks in
other formats are not shown here.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.responses import Response

from mailqueue.api.compat.model import webhook_endpoint
from mailqueue.api.compat.resend.pages import ListPage, body_of, list_answer, page_of, page_query
from mailqueue.api.compat.resend.views import stamp
from mailqueue.api.emails.schema import StorableText
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import master_key_of
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.formats.model import FormatName
from mailqueue.webhooks.formats.resend import TYPES
from mailqueue.webhooks.model import WebhookRow

_Events = Annotated[list[StorableText], Field(min_length=1, max_length=100)]


class NewWebhook(RequestModel):
    """The body of POST /webhooks."""

    endpoint: StorableText
    events: _Events


class WebhookChange(RequestModel):
    """The body of PATCH /webhooks/{webhook_id}."""

    webhook_id: StorableText | None = None  # sent along by its clients; the path counts
    endpoint: StorableText | None = None
    events: _Events | None = None
    status: Literal["enabled", "disabled"] | None = None


async def create(call: RequestContext) -> Response:
    """Add a webhook."""
    body = await body_of(call, NewWebhook)
    async with call.connection() as conn, unlocked(call, own_key_of(call.request), conn):
        try:
            added = await endpoints.add(
                conn,
                call.caller.project_id,
                url=body.endpoint,
                event_types=_types_of(body.events),
                description=None,
                secret=None,
                allowed=call.settings.allowed_hosts,
                master=master_key_of(call.settings),
                by=call.by,
                form=FormatName.RESEND,
            )
        except InvalidField as exc:
            raise _named(exc) from exc
    document = {"object": "webhook", "id": added.webhook.id}
    return json_answer({**document, "signing_secret": added.secret.reveal()}, status=201)


async def index(call: RequestContext) -> Response:
    """List webhooks, newest first."""
    query = page_query(call, ListPage)
    async with call.connection() as conn:
        found = await endpoints.list_page(
            conn, call.caller.project_id, limit=endpoints.MAX_WEBHOOKS
        )
    ours = [one for one in reversed(found) if one.format == FormatName.RESEND]
    page, has_more = page_of(ours, query, lambda one: one.id)
    return list_answer([_shown(one) for one in page], has_more)


async def show(call: RequestContext) -> Response:
    """Show one webhook; its secret is shown when it is added, and then no more."""
    async with call.connection() as conn:
        return json_answer({"object": "webhook", **_shown(await webhook_of_path(call, conn))})


async def change(call: RequestContext) -> Response:
    """Change URL, events or status of a webhook; what is left out stays."""
    body = await body_of(call, WebhookChange)
    project_id = call.caller.project_id
    async with call.connection() as conn:
        one = await webhook_of_path(call, conn)
        if body.endpoint is not None or body.events is not None:
            try:
                await endpoints.change(
                    conn,
                    project_id,
                    one.id,
                    url=body.endpoint,
                    event_types=None if body.events is None else _types_of(body.events),
                    allowed=call.settings.allowed_hosts,
                    by=call.by,
                )
            except InvalidField as exc:
                raise _named(exc) from exc
        if body.status is not None:
            is_enabled = body.status == "enabled"
            await endpoints.switch(conn, project_id, one.id, is_enabled=is_enabled, by=call.by)
    return json_answer({"object": "webhook", "id": one.id})


async def remove(call: RequestContext) -> Response:
    """Remove a webhook."""
    async with call.connection() as conn:
        one = await webhook_of_path(call, conn)
        await endpoints.remove(conn, call.caller.project_id, one.id, by=call.by)
    return json_answer({"object": "webhook", "id": one.id, "deleted": True})


async def webhook_of_path(call: RequestContext, conn: Conn) -> WebhookRow:
    """Return the webhook of the path.

    Raises:
        NotFound: there is none in this format.
    """
    webhook_id = call.id("webhook_id")
    one = await endpoints.find(conn, call.caller.project_id, webhook_id)
    if one.format != FormatName.RESEND:
        raise NotFound("webhook", webhook_id)
    return one


def _types_of(events: Sequence[str]) -> list[str]:
    """Return the types of Resend's events. Pure.

    Raises:
        InvalidField: an event is not one that is sent here.
    """
    if unknown := sorted({one for one in events if one not in TYPES.values()}):
        known = ", ".join(sorted(set(TYPES.values())))
        raise InvalidField("events", f"{unknown[0][:100]!r} is not sent here; use any of {known}")
    return [type_.value for type_, name in TYPES.items() if name in events]


def _named(exc: InvalidField) -> InvalidField:
    """Return an error with Resend's name of its field. Pure."""
    return exc.named({"url": "endpoint", "event_types": "events"}.get(exc.field, exc.field))


def _shown(one: WebhookRow) -> dict[str, Any]:
    events = [name for type_, name in TYPES.items() if type_.value in one.event_types]
    return {
        "id": one.id,
        "created_at": stamp(one.created_at),
        "status": "enabled" if one.is_enabled else "disabled",
        "endpoint": one.url,
        "events": list(dict.fromkeys(events if one.event_types else TYPES.values())),
    }


WEBHOOK_ENDPOINTS = (
    webhook_endpoint("POST", "/webhooks", "Add a webhook.", create),
    webhook_endpoint("GET", "/webhooks", "List webhooks.", index),
    webhook_endpoint("GET", "/webhooks/{webhook_id}", "Show a webhook.", show),
    webhook_endpoint("PATCH", "/webhooks/{webhook_id}", "Change a webhook.", change),
    webhook_endpoint("DELETE", "/webhooks/{webhook_id}", "Remove a webhook.", remove),
)
