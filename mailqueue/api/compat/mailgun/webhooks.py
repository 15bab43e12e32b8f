"""Mailgun's API: webhooks of a domain, which receive events in the format of Mailgun.

The webhooks are those of the project: they are the same for each of its domains. A webhook here has
a URL and the events it receives; Mailgun's version 3 shows them by event, version 4 takes them by
URL. All that are added here have one signing key, as there.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from starlette.responses import Response

from mailqueue.api.compat.mailgun.domains import check_domain
from mailqueue.api.compat.mailgun.faults import MissingParameter, NoWebhook
from mailqueue.api.compat.mailgun.form import Form, form_of
from mailqueue.api.compat.mailgun.webhook_events import (
    EVENTS,
    MAX_URLS,
    TypesByUrl,
    changes_of,
    event_named,
    types_by_url,
    urls_by_event,
)
from mailqueue.api.compat.model import webhook_endpoint
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.http.responses import json_answer
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.vault.masterkey import master_key_of
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.formats.model import FormatName
from mailqueue.webhooks.model import WebhookRow


async def index(call: RequestContext) -> Response:
    """List the URLs of each event."""
    await check_domain(call)
    async with call.connection() as conn:
        found = urls_by_event(await _all(call, conn))
    return json_answer({"webhooks": {event: {"urls": urls} for event, urls in found.items()}})


async def show(call: RequestContext) -> Response:
    """Show the URLs of an event."""
    await check_domain(call)
    event = event_named(call.path["event"])
    async with call.connection() as conn:
        urls = urls_by_event(await _all(call, conn)).get(event)
    if urls is None:
        raise NoWebhook
    return json_answer({"webhook": {"urls": urls}})


async def create(call: RequestContext) -> Response:
    """Add an event that has no URLs yet."""
    await check_domain(call)
    form = await _form(call, ("id", "url"))
    event = event_named(_one(form, "id"), field="id")
    urls = _urls(form)
    async with _locked(call) as conn:
        known = await _all(call, conn)
        if event in urls_by_event(known):
            raise InvalidField("id", f"webhook {event} already exists")
        wanted = types_by_url(known)
        for url in urls:
            wanted.setdefault(url, set()).update(EVENTS[event])
        shown = await _applied(call, conn, known, wanted)
    return json_answer({"message": "Webhook has been created", "webhook": {"urls": urls}, **shown})


async def change(call: RequestContext) -> Response:
    """Replace the URLs of an event."""
    await check_domain(call)
    event = event_named(call.path["event"])
    urls = _urls(await _form(call, ("url",)))
    shown = await _replaced(call, event, urls)
    return json_answer({"message": "Webhook has been updated", "webhook": {"urls": urls}, **shown})


async def remove(call: RequestContext) -> Response:
    """Remove the URLs of an event."""
    await check_domain(call)
    event = event_named(call.path["event"])
    async with call.connection() as conn:
        urls = urls_by_event(await _all(call, conn)).get(event, [])
    await _replaced(call, event, [])
    return json_answer({"message": "Webhook has been deleted", "webhook": {"urls": urls}})


async def put_url(call: RequestContext) -> Response:
    """Add a URL with its events, or replace the events of one."""
    await check_domain(call)
    form = await _form(call, ("url", "event_types"))
    (url, *more) = _urls(form)
    if more:
        raise InvalidField("url", "may be given once")
    given = [each.strip() for text in form.all("event_types") for each in text.split(",")]
    if not given:
        raise MissingParameter("event_types")
    types = {kind for each in given for kind in EVENTS[event_named(each, field="event_types")]}
    async with _locked(call) as conn:
        known = await _all(call, conn)
        if call.request.method == "PUT" and url not in {one.url for one in known}:
            raise NoWebhook
        wanted = types_by_url(known) | {url: types}
        shown = await _applied(call, conn, known, wanted)
        found = urls_by_event(await _all(call, conn))
    return json_answer(
        {"webhooks": {event: {"urls": urls} for event, urls in found.items()}, **shown}
    )


async def remove_url(call: RequestContext) -> Response:
    """Remove a URL with all its events."""
    await check_domain(call)
    urls = set(call.request.query_params.getlist("url"))
    if not urls:
        raise MissingParameter("url")
    async with _locked(call) as conn:
        known = await _all(call, conn)
        had = types_by_url(known)
        if urls.isdisjoint(had):
            raise NoWebhook
        wanted = {url: types for url, types in had.items() if url not in urls}
        await _applied(call, conn, known, wanted)
        found = urls_by_event(await _all(call, conn))
    return json_answer({"webhooks": {event: {"urls": urls} for event, urls in found.items()}})


async def _replaced(call: RequestContext, event: str, urls: Sequence[str]) -> dict[str, Any]:
    async with _locked(call) as conn:
        known = await _all(call, conn)
        if event not in urls_by_event(known):
            raise NoWebhook
        wanted = {url: types - EVENTS[event] for url, types in types_by_url(known).items()}
        for url in urls:
            wanted.setdefault(url, set()).update(EVENTS[event])
        return await _applied(call, conn, known, wanted)


async def _applied(
    call: RequestContext, conn: Conn, known: Sequence[WebhookRow], wanted: TypesByUrl
) -> dict[str, Any]:
    """Add, change and remove webhooks; return the signing key where it is new.

    Raises:
        InvalidField: a URL is invalid.
    """
    project_id, by, allowed = call.caller.project_id, call.by, call.settings.allowed_hosts
    added, changed, removed = changes_of(known, wanted)
    secret = await _signing_key(call, conn, known) if added else None  # before they are removed
    is_new = secret is None
    for one in removed:
        await endpoints.remove(conn, project_id, one.id, by=by)
    for one, types in changed:
        await endpoints.change(conn, project_id, one.id, event_types=types, allowed=allowed, by=by)
    for url, types in added:
        made = await endpoints.add(
            conn,
            project_id,
            url=url,
            event_types=types,
            description=None,
            secret=secret,
            allowed=allowed,
            master=master_key_of(call.settings),
            by=by,
            form=FormatName.MAILGUN,
        )
        secret = made.secret.reveal()
    return {"http_signing_key": secret} if added and is_new else {}


async def _signing_key(call: RequestContext, conn: Conn, known: Sequence[WebhookRow]) -> str | None:
    """Return the signing key of the first webhook; None if there is none."""
    if not known:
        return None
    master = master_key_of(call.settings)
    return (await endpoints.secret_of(conn, known[0].id, master=master)).reveal()


@asynccontextmanager
async def _locked(call: RequestContext) -> AsyncIterator[Conn]:
    """Yield a connection in a transaction, in which no other request adds webhooks."""
    own = own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn), conn.transaction():
        await endpoints.lock_all(conn, call.caller.project_id)
        yield conn


async def _all(call: RequestContext, conn: Conn) -> list[WebhookRow]:
    found = await endpoints.list_page(conn, call.caller.project_id, limit=endpoints.MAX_WEBHOOKS)
    return [one for one in found if one.format == FormatName.MAILGUN]


async def _form(call: RequestContext, names: Sequence[str]) -> Form:
    form = await form_of(call)
    form.check_names(names)
    return form


def _one(form: Form, name: str) -> str:
    found = form.one(name)
    if found is None:
        raise MissingParameter(name)
    return found


def _urls(form: Form) -> list[str]:
    urls = list(dict.fromkeys(text.strip() for text in form.all("url")))
    if not urls:
        raise MissingParameter("url")
    if len(urls) > MAX_URLS:
        raise InvalidField("url", f"may be given {MAX_URLS} times")
    return urls


_PATH = "/v3/domains/{domain}/webhooks"
_ONE = f"{_PATH}/{{event}}"
_V4 = "/v4/domains/{domain}/webhooks"
WEBHOOK_ENDPOINTS = (
    webhook_endpoint("GET", _PATH, "List webhooks by event.", index),
    webhook_endpoint("POST", _PATH, "Add the webhooks of an event.", create),
    webhook_endpoint("GET", _ONE, "Show the webhooks of an event.", show),
    webhook_endpoint("PUT", _ONE, "Replace the webhooks of an event.", change),
    webhook_endpoint("DELETE", _ONE, "Remove the webhooks of an event.", remove),
    webhook_endpoint("GET", _V4, "List webhooks by event.", index),
    webhook_endpoint("POST", _V4, "Add a webhook, or replace its events.", put_url),
    webhook_endpoint("PUT", _V4, "Replace the events of a webhook.", put_url),
    webhook_endpoint("DELETE", _V4, "Remove a webhook.", remove_url),
)
