"""Pages that add, change, switch and remove a webhook, and replace its secret."""

from collections.abc import Mapping
from datetime import timedelta

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.webhooks.pages import PATH, WEBHOOK, find_webhook
from mailqueue.core.errors import Conflict, InvalidField
from mailqueue.vault.masterkey import master_key_of
from mailqueue.web.forms import text_of
from mailqueue.web.rendering import sentence
from mailqueue.webhooks import acceptable, endpoints
from mailqueue.webhooks.formats.model import FormatName
from mailqueue.webhooks.model import MEANING_BY_TYPE, EventType, WebhookRow, WithSecret
from mailqueue.webhooks.values import created_webhook_of

NEW = f"{PATH}/new"
_TYPE_FIELDS = tuple(f"type-{kind}" for kind in EventType)
_KEPT = ("format", "description", *_TYPE_FIELDS)
# Not the URL: it may hold a user name and password.
FORMAT_CHOICES = (
    (FormatName.MAILQUEUE, "mailqueue"),
    (FormatName.RESEND, "Resend"),
    (FormatName.POSTMARK, "Postmark"),
    (FormatName.SENDGRID, "SendGrid"),
    (FormatName.MAILGUN, "Mailgun"),
)
OVERLAPS = (
    ("24", "24 hours"),
    ("0", "no time: the old secret ends at once"),
    ("1", "1 hour"),
    ("168", "7 days"),
    ("720", "30 days"),
)
"""Hours for which an old secret signs too."""


async def ask_new(context: PageContext) -> Response:
    """Show the form of a new webhook."""
    return _form(context, None, {name: context.query(name) for name in _KEPT})


async def create(context: PageContext) -> Response:
    """Add a webhook and show its secret, once."""
    settings = context.console.settings
    try:
        async with context.acting_once() as conn:
            added = await endpoints.add(
                conn,
                context.seen.id,
                url=text_of(context.form, "url"),
                event_types=_types(context.form),
                description=text_of(context.form, "description") or None,
                secret=None,
                allowed=settings.allowed_hosts,
                master=master_key_of(settings),
                by=context.user.by,
                form=text_of(context.form, "format") or FormatName.MAILQUEUE,
            )
    except DoneBefore:
        return context.redirect(project_path(context.seen.name, "webhooks", done="before"))
    except InvalidField as exc:
        return _form(context, None, context.form, {exc.field: sentence(exc.why)})
    except Conflict as exc:
        return _form(context, None, context.form, {"": sentence(str(exc))})
    return _secret(context, added, is_new=True)


async def ask_change(context: PageContext) -> Response:
    """Show the settings of a webhook as a form."""
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
    typed = {"url": webhook.url, "description": webhook.description or ""}
    typed |= {f"type-{kind}": "on" for kind in webhook.event_types}
    return _form(context, webhook, typed | _given(context))


async def change(context: PageContext) -> Response:
    """Change URL, description and types, unless another user has changed the webhook since."""
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
    if text_of(context.form, "version") != _version(webhook):
        why = "Another user changed this webhook meanwhile. Look at it again, then save."
        return _form(context, webhook, context.form, {"": why})
    try:
        async with context.acting_once() as conn:
            await endpoints.change(
                conn,
                context.seen.id,
                webhook.id,
                url=text_of(context.form, "url"),
                event_types=_types(context.form),
                description=text_of(context.form, "description"),
                allowed=context.console.settings.allowed_hosts,
                by=context.user.by,
            )
    except DoneBefore:
        return _done(context, webhook, "before")
    except InvalidField as exc:
        return _form(context, webhook, context.form, {exc.field: sentence(exc.why)})
    return _done(context, webhook, "changed")


async def ask_secret(context: PageContext) -> Response:
    """Show what replacing the secret does, and the form that does it."""
    return await _asked(context, "rotate")


async def rotate(context: PageContext) -> Response:
    """Replace the signing secret and show the new one, once."""
    hours = text_of(context.form, "overlap")
    if hours not in dict(OVERLAPS):
        return await _asked(context, "rotate", {"overlap": "Must be one of those shown."})
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
    try:
        async with context.acting_once() as conn:
            rotated = await endpoints.rotate(
                conn,
                context.seen.id,
                webhook.id,
                secret=None,
                overlap=timedelta(hours=int(hours)),
                master=master_key_of(context.console.settings),
                by=context.user.by,
            )
    except DoneBefore:
        return _done(context, webhook, "before")
    return _secret(context, rotated, is_new=False)


def _secret(context: PageContext, made: WithSecret, *, is_new: bool) -> Response:
    return context.page(
        "webhooks/secret.html",
        webhook=made.webhook,
        secret=created_webhook_of(made).secret,
        is_new=is_new,
    )


async def ask_switch(context: PageContext) -> Response:
    """Show what enabling or disabling does, and the form that does it."""
    return await _asked(context, "switch")


async def switch(context: PageContext) -> Response:
    """Enable or disable a webhook, as the form says."""
    is_enabled = text_of(context.form, "to") == "enabled"
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
    try:
        async with context.acting_once() as conn:
            await endpoints.switch(
                conn, context.seen.id, webhook.id, is_enabled=is_enabled, by=context.user.by
            )
    except DoneBefore:
        return _done(context, webhook, "before")
    return _done(context, webhook, "enabled" if is_enabled else "disabled")


async def ask_removal(context: PageContext) -> Response:
    """Show what removing does, and the form that does it."""
    return await _asked(context, "remove")


async def remove(context: PageContext) -> Response:
    """Remove a webhook and its log."""
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
    try:
        async with context.acting_once() as conn:
            await endpoints.remove(conn, context.seen.id, webhook.id, by=context.user.by)
    except DoneBefore:
        return _done(context, webhook, "before")
    return context.redirect(project_path(context.seen.name, "webhooks", done="removed"))


async def _asked(
    context: PageContext, what: str, faults: Mapping[str, str] | None = None
) -> Response:
    async with context.connection() as conn:
        webhook = await find_webhook(context, conn)
    return context.form_page(
        f"webhooks/{what}.html",
        context.form,
        faults,
        webhook=webhook,
        overlaps=OVERLAPS,
    )


def _form(
    context: PageContext,
    webhook: WebhookRow | None,
    typed: Mapping[str, str],
    faults: Mapping[str, str] | None = None,
) -> Response:
    return context.form_page(
        "webhooks/form.html",
        typed,
        faults,
        webhook=webhook,
        version="" if webhook is None else _version(webhook),
        formats=FORMAT_CHOICES,
        meanings={kind.value: meaning for kind, meaning in MEANING_BY_TYPE.items()},
        longest=acceptable.MAX_URL_CHARACTERS,
        longest_description=acceptable.MAX_DESCRIPTION_CHARACTERS,
    )


def _version(webhook: WebhookRow) -> str:
    return webhook.updated_at.isoformat()


def _given(context: PageContext) -> dict[str, str]:
    """Return what was typed before a login or confirmation led back here."""
    given = {name: context.query(name) for name in _KEPT}
    return {name: text for name, text in given.items() if text}


def _types(form: Mapping[str, str]) -> list[str]:
    return [kind.value for kind in EventType if form.get(f"type-{kind}") == "on"]


def _done(context: PageContext, webhook: WebhookRow, what: str) -> Response:
    return context.redirect(project_path(context.seen.name, "webhooks", webhook.id, done=what))


PAGES = (
    ConsolePage("GET", NEW, Right.CONFIGURE, ask_new),
    ConsolePage("POST", NEW, Right.CONFIGURE, create, keeps=_KEPT),
    ConsolePage("GET", f"{WEBHOOK}/change", Right.CONFIGURE, ask_change),
    ConsolePage("POST", f"{WEBHOOK}/change", Right.CONFIGURE, change, keeps=_KEPT),
    ConsolePage("GET", f"{WEBHOOK}/secret", Right.CONFIGURE, ask_secret),
    ConsolePage("POST", f"{WEBHOOK}/secret", Right.CONFIGURE, rotate, step_up=True),
    ConsolePage("GET", f"{WEBHOOK}/switch", Right.CONFIGURE, ask_switch),
    ConsolePage("POST", f"{WEBHOOK}/switch", Right.CONFIGURE, switch),
    ConsolePage("GET", f"{WEBHOOK}/remove", Right.CONFIGURE, ask_removal),
    ConsolePage("POST", f"{WEBHOOK}/remove", Right.CONFIGURE, remove, step_up=True),
)
