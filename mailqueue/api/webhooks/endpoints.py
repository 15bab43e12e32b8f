"""Endpoints of webhooks."""

from datetime import timedelta
from http import HTTPStatus
from uuid import UUID

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.kek_header import own_key_of, unlocked
from mailqueue.api.http.pagination import PageQuery, page_of
from mailqueue.api.webhooks.deliveries import LOG_ENDPOINTS
from mailqueue.api.webhooks.schema import (
    ChangeWebhook,
    CreateWebhook,
    SecretRotation,
)
from mailqueue.contract.page import Page
from mailqueue.contract.webhooks import CreatedWebhook, Webhook, WebhookEventTypes
from mailqueue.core.paging import key_of
from mailqueue.projects.model import Scope
from mailqueue.vault.masterkey import master_key_of
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.model import WebhookRow, WithSecret
from mailqueue.webhooks.values import EVENT_TYPES, created_webhook_of, webhook_of

_TAG = "Webhooks"
_ONE = "/v1/webhooks/{webhook_id}"


async def create(call: RequestContext) -> CreatedWebhook:
    """Register a webhook."""
    body: CreateWebhook = call.body
    master, own = master_key_of(call.settings), own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn):
        added = await endpoints.add(
            conn,
            call.caller.project_id,
            url=body.url,
            event_types=list(body.event_types),
            description=body.description,
            secret=body.secret,
            allowed=call.settings.allowed_hosts,
            master=master,
            by=call.by,
            form=body.format,
        )
        if not body.is_enabled:
            off = await _switched(call, added.webhook.id, is_enabled=False)
            added = WithSecret(off, added.secret)
    return created_webhook_of(added)


async def index(call: RequestContext) -> Page[Webhook]:
    """List the project's webhooks, oldest first."""
    query: PageQuery = call.query
    (after,) = key_of(query.cursor, UUID)
    async with call.connection() as conn:
        found = await endpoints.list_page(
            conn, call.caller.project_id, after=after, limit=query.limit + 1
        )
    return page_of(found, query.limit, key=lambda one: (one.id,)).map(webhook_of)


async def list_types(call: RequestContext) -> WebhookEventTypes:  # noqa: ARG001
    """List the types of events."""
    return EVENT_TYPES


async def show(call: RequestContext) -> Webhook:
    """Return one webhook."""
    async with call.connection() as conn:
        return webhook_of(await endpoints.find(conn, call.caller.project_id, call.id("webhook_id")))


async def change(call: RequestContext) -> Webhook:
    """Change a webhook; omitted fields are unchanged."""
    body: ChangeWebhook = call.body
    project_id, webhook_id = call.caller.project_id, call.id("webhook_id")
    master, own = master_key_of(call.settings), own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn):
        now = await endpoints.find(conn, project_id, webhook_id)
        if body.model_fields_set & {"url", "event_types", "description"}:
            now = await endpoints.change(
                conn,
                project_id,
                webhook_id,
                url=body.url,
                event_types=None if body.event_types is None else [*body.event_types],
                description=(body.description or "")
                if "description" in body.model_fields_set
                else None,
                allowed=call.settings.allowed_hosts,
                by=call.by,
            )
        if body.secret is not None:
            rotated = await endpoints.rotate(
                conn,
                project_id,
                webhook_id,
                secret=body.secret,
                overlap=endpoints.DEFAULT_OVERLAP,
                master=master,
                by=call.by,
            )
            now = rotated.webhook
        if body.is_enabled is not None:
            now = await _switched(call, webhook_id, is_enabled=body.is_enabled)
    return webhook_of(now)


async def enable(call: RequestContext) -> Webhook:
    """Enable a webhook."""
    return webhook_of(await _switched(call, call.id("webhook_id"), is_enabled=True))


async def disable(call: RequestContext) -> Webhook:
    """Disable a webhook."""
    return webhook_of(await _switched(call, call.id("webhook_id"), is_enabled=False))


async def remove(call: RequestContext) -> None:
    """Delete a webhook."""
    async with call.connection() as conn:
        await endpoints.remove(conn, call.caller.project_id, call.id("webhook_id"), by=call.by)


async def rotate(call: RequestContext) -> CreatedWebhook:
    """Replace the signing secret."""
    body: SecretRotation = call.body
    master, own = master_key_of(call.settings), own_key_of(call.request)
    async with call.connection() as conn, unlocked(call, own, conn):
        rotated = await endpoints.rotate(
            conn,
            call.caller.project_id,
            call.id("webhook_id"),
            secret=body.secret,
            overlap=timedelta(hours=body.overlap_hours),
            master=master,
            by=call.by,
        )
    return created_webhook_of(rotated)


async def _switched(call: RequestContext, webhook_id: UUID, *, is_enabled: bool) -> WebhookRow:
    async with call.connection() as conn:
        return await endpoints.switch(
            conn, call.caller.project_id, webhook_id, is_enabled=is_enabled, by=call.by
        )


ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/webhooks",
        Scope.WEBHOOK_MANAGE,
        "Register a webhook.",
        create,
        request=CreateWebhook,
        response=CreatedWebhook,
        status=HTTPStatus.CREATED,
        tag=_TAG,
        hidden=("secret",),
        example={
            "url": "https://app.example.com/hooks/mail",
            "event_types": ["email.delivered", "email.hard_bounce", "email.complaint"],
        },
        description="The secret is returned only in this response.",
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "GET",
        "/v1/webhooks",
        Scope.WEBHOOK_MANAGE,
        "List webhooks.",
        index,
        query=PageQuery,
        response=Page[Webhook],
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        "/v1/webhooks/event-types",
        Scope.WEBHOOK_MANAGE,
        "List event types.",
        list_types,
        response=WebhookEventTypes,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "GET",
        _ONE,
        Scope.WEBHOOK_MANAGE,
        "Show a webhook.",
        show,
        response=Webhook,
        tag=_TAG,
        test_keys=ForTestKeys.READ,
    ),
    Endpoint(
        "PUT",
        _ONE,
        Scope.WEBHOOK_MANAGE,
        "Change a webhook.",
        change,
        request=ChangeWebhook,
        response=Webhook,
        tag=_TAG,
        example={"event_types": ["email.hard_bounce", "email.complaint"]},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "DELETE",
        _ONE,
        Scope.WEBHOOK_MANAGE,
        "Remove a webhook and its log.",
        remove,
        status=HTTPStatus.NO_CONTENT,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/rotate-secret",
        Scope.WEBHOOK_MANAGE,
        "Rotate the signing secret; both secrets sign for a while.",
        rotate,
        request=SecretRotation,
        response=CreatedWebhook,
        tag=_TAG,
        hidden=("secret",),
        example={"overlap_hours": 24},
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/enable",
        Scope.WEBHOOK_MANAGE,
        "Enable a webhook.",
        enable,
        response=Webhook,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/disable",
        Scope.WEBHOOK_MANAGE,
        "Disable a webhook.",
        disable,
        response=Webhook,
        tag=_TAG,
        test_keys=ForTestKeys.REFUSED,
    ),
    *LOG_ENDPOINTS,
)
