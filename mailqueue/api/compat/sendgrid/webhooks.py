"""SendGrid's API: event webhooks, which receive events in the format of SendGrid.

Follows twilio.com/docs/sendgrid/api-reference/webhooks. Webhooks in other formats are not shown
here. Paths without an id are of the first webhook, as there.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from starlette.responses import Response

from mailqueue.api.compat.model import webhook_endpoint
from mailqueue.api.compat.sendgrid.faults import SendGridRefused, Wrong
from mailqueue.api.compat.sendgrid.suppressions import body_of, no_content, refuse_subuser
from mailqueue.api.compat.sendgrid.webhook_model import (
    EventSettings,
    EventTest,
    SignedSettings,
    named,
    shown,
    types_of,
)
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import master_key_of
from mailqueue.webhooks import endpoints, trial
from mailqueue.webhooks.formats.model import FormatName
from mailqueue.webhooks.model import EventType, WebhookRow


async def create(call: RequestContext) -> Response:
    """Add a webhook."""
    refuse_subuser(call.request)
    body = await body_of(call, EventSettings)
    return json_answer(shown(await _added(call, body)), status=HTTPStatus.CREATED)


async def index(call: RequestContext) -> Response:
    """List webhooks, in the order they were added."""
    refuse_subuser(call.request)
    found = [shown(one) for one in await _all(call)]
    return json_answer({"max_allowed": endpoints.MAX_WEBHOOKS, "webhooks": found})


async def show(call: RequestContext) -> Response:
    """Show one webhook; of the first, if there is none, that nothing is sent."""
    one = await _found(call)
    return json_answer(shown(one))


async def change(call: RequestContext) -> Response:
    """Change a webhook; what is left out stays. The first is added if there is none."""
    one = await _found(call)
    body = await body_of(call, EventSettings)
    if one is None:
        return json_answer(shown(await _added(call, body)))
    types = types_of(body, one.event_types)
    if not types:
        raise SendGridRefused([Wrong("select at least one event")])
    project_id = call.caller.project_id
    async with call.connection() as conn, conn.transaction():
        try:
            one = await endpoints.change(
                conn,
                project_id,
                one.id,
                url=body.url,
                event_types=types,
                description=body.friendly_name,
                allowed=call.settings.allowed_hosts,
                by=call.by,
            )
        except InvalidField as exc:
            raise named(exc) from exc
        if body.enabled is not None and body.enabled is not one.is_enabled:
            one = await endpoints.switch(
                conn, project_id, one.id, is_enabled=body.enabled, by=call.by
            )
    return json_answer(shown(one))


async def remove(call: RequestContext) -> Response:
    """Remove a webhook."""
    one = await _existing(call)
    async with call.connection() as conn:
        await endpoints.remove(conn, call.caller.project_id, one.id, by=call.by)
    return no_content()


async def show_key(call: RequestContext) -> Response:
    """Show the public key by which requests of a webhook are verified."""
    one = await _existing(call)
    return json_answer({"id": one.id, "public_key": one.public_key})


async def sign(call: RequestContext) -> Response:
    """Return the public key; every request is signed, which cannot be switched off."""
    one = await _existing(call)
    body = await body_of(call, SignedSettings)
    if not body.enabled:
        raise SendGridRefused([Wrong("requests are always signed", "enabled")])
    return json_answer({"id": one.id, "public_key": one.public_key})


async def test(call: RequestContext) -> Response:
    """Send a test event to a webhook."""
    refuse_subuser(call.request)
    body = await body_of(call, EventTest)
    one = next(
        (
            one
            for one in await _all(call)
            if body.id in (None, str(one.id)) and body.url in (None, one.url)
        ),
        None,
    )
    if one is None:
        raise SendGridRefused([Wrong("no webhook has this id and URL", "url")])
    own = own_key_of(call.request)

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with call.connection() as conn, unlocked(call, own, conn):
            yield conn

    poster = call.services.make_poster()
    try:
        done = await trial.try_out(
            lend,
            call.caller.project_id,
            one.id,
            event_type=EventType.DELIVERED if EventType.DELIVERED in one.event_types else None,
            poster=poster,
            master=master_key_of(call.settings),
        )
    finally:
        poster.close()
    if not done.success:
        why = done.error or f"the webhook answered {done.response_status}"
        raise SendGridRefused([Wrong(why, "url")])
    return no_content()


async def _added(call: RequestContext, body: EventSettings) -> WebhookRow:
    if not body.url:
        raise SendGridRefused([Wrong("This parameter is required.", "url")])
    types = types_of(body)
    if not types:
        raise SendGridRefused([Wrong("select at least one event")])
    project_id, own = call.caller.project_id, own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn), conn.transaction():
        try:
            added = await endpoints.add(
                conn,
                project_id,
                url=body.url,
                event_types=types,
                description=body.friendly_name,
                secret=None,
                allowed=call.settings.allowed_hosts,
                master=master_key_of(call.settings),
                by=call.by,
                form=FormatName.SENDGRID,
            )
        except InvalidField as exc:
            raise named(exc) from exc
        if body.enabled is False:
            return await endpoints.switch(
                conn, project_id, added.webhook.id, is_enabled=False, by=call.by
            )
    return added.webhook


async def _all(call: RequestContext) -> list[WebhookRow]:
    async with call.connection() as conn:
        found = await endpoints.list_page(
            conn, call.caller.project_id, limit=endpoints.MAX_WEBHOOKS
        )
    return [one for one in found if one.format == FormatName.SENDGRID]


async def _found(call: RequestContext) -> WebhookRow | None:
    """Return the webhook of the path, without an id the first, None if there is none.

    Raises:
        NotFound: there is no webhook of the id in this format.
    """
    refuse_subuser(call.request)
    if "webhook_id" not in call.path:
        return next(iter(await _all(call)), None)
    webhook_id = call.id("webhook_id")
    async with call.connection() as conn:
        one = await endpoints.find(conn, call.caller.project_id, webhook_id)
    if one.format != FormatName.SENDGRID:
        raise NotFound("webhook", webhook_id)
    return one


async def _existing(call: RequestContext) -> WebhookRow:
    one = await _found(call)
    if one is None:
        raise NotFound("webhook", "first")
    return one


_PATH = "/v3/user/webhooks/event"
_SETTINGS = f"{_PATH}/settings"
_ONE = f"{_SETTINGS}/{{webhook_id}}"
_SIGNED = f"{_SETTINGS}/signed"
_SIGNED_ONE = f"{_SIGNED}/{{webhook_id}}"
WEBHOOK_ENDPOINTS = (
    webhook_endpoint("GET", f"{_SETTINGS}/all", "List webhooks.", index),
    webhook_endpoint("POST", _SETTINGS, "Add a webhook.", create),
    webhook_endpoint("GET", _SETTINGS, "Show the first webhook.", show),
    webhook_endpoint("PATCH", _SETTINGS, "Change the first webhook, or add it.", change),
    webhook_endpoint("GET", _SIGNED, "Show the public key of the first webhook.", show_key),
    webhook_endpoint("PATCH", _SIGNED, "Show that the first webhook is signed.", sign),
    webhook_endpoint("GET", _ONE, "Show a webhook.", show),
    webhook_endpoint("PATCH", _ONE, "Change a webhook.", change),
    webhook_endpoint("DELETE", _ONE, "Remove a webhook.", remove),
    webhook_endpoint("GET", _SIGNED_ONE, "Show the public key of a webhook.", show_key),
    webhook_endpoint("PATCH", _SIGNED_ONE, "Show that a webhook is signed.", sign),
    webhook_endpoint("POST", f"{_PATH}/test", "Send a test event to a webhook.", test),
)
