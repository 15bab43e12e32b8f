"""Build the mails of a SendGrid request: one for each personalization. Pure."""

import mimetypes
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mailqueue.api.compat.accepting import OneRefused, Wanted
from mailqueue.api.compat.batch import Budget
from mailqueue.api.compat.mailboxes import format_mailbox
from mailqueue.api.compat.option_fields import options_in
from mailqueue.api.compat.sendgrid.checks import TRACKED
from mailqueue.api.compat.sendgrid.model import (
    Box,
    MailSetting,
    Personalization,
    SendGridFile,
    SendGridMail,
    is_on,
)
from mailqueue.api.compat.sendgrid.tags import Tags
from mailqueue.api.sending.schema import AttachedFile, SendRequest, TemplateRequest
from mailqueue.core.errors import InvalidField
from mailqueue.core.mail_options import Api
from mailqueue.webhooks.formats.sendgrid import CUSTOM_ARGS

MAX_CHARACTERS = 64 * 1024 * 1024
"""Most characters of all mails of a request, with values inserted."""


def mails_of(mail: SendGridMail, key: str | None) -> list[Wanted]:
    """Return the mails in the order of their personalizations; `key` is the base of their
    idempotency keys.

    Raises:
        OneRefused: with all values inserted the mails would be too large.
    """
    tags = Tags(mail.sections, Budget(MAX_CHARACTERS))
    html, text = (_content(mail, kind) for kind in ("text/html", "text/plain"))
    shared = _shared(mail, html)
    mails: list[Wanted] = []
    for index, each in enumerate(mail.personalizations):
        own = shared | _own(mail, each)
        if key is not None:
            own["idempotency_key"] = f"{key}/{index}"
        try:
            mails.append(_wanted(mail, each, own, content=(html, text), tags=tags))
        except InvalidField as exc:
            raise OneRefused(index, exc) from None
    return mails


def _wanted(
    mail: SendGridMail,
    each: Personalization,
    own: Mapping[str, Any],
    *,
    content: tuple[str | None, str | None],
    tags: Tags,
) -> Wanted:
    if mail.template_id is not None:
        slug, _, version = mail.template_id.partition("@")
        return TemplateRequest.model_construct(
            **own,
            template_slug=slug,
            template_version=version or None,
            variables=each.dynamic_template_data,
        )
    values = tags.values(each.substitutions)
    html, text = content
    return SendRequest.model_construct(
        **own,
        subject=tags.put_in(each.subject or mail.subject or "", values),
        html_body=None if html is None else tags.put_in(html, values),
        text_body=None if text is None else tags.put_in(text, values),
    )


def _content(mail: SendGridMail, kind: str) -> str | None:
    found = (
        one.value for one in mail.content if one.type.partition(";")[0].strip().lower() == kind
    )
    return next(found, None)


def _shared(mail: SendGridMail, html: str | None) -> dict[str, Any]:
    answers = [mail.reply_to] if mail.reply_to is not None else mail.reply_to_list or []
    given: dict[str, Any] = {
        "reply_to": ", ".join(map(_box, answers)) or None,
        "attachments": [_attached(one, html) for one in mail.attachments],
        "tags": mail.categories,
        "category": None if mail.asm is None else f"asm-{mail.asm.group_id}",
        **options_in(Api.SENDGRID, mail),
    }
    for name, field in TRACKED.items():
        if (chosen := _chosen(getattr(mail.tracking_settings, name))) is not None:
            given[field] = chosen
    if mail.asm is not None:
        given["unsubscribe"] = True
    return given


def _chosen(setting: MailSetting | None) -> bool | None:
    if setting is None or setting.get("enable") is None:
        return None
    return is_on(setting)


def _own(mail: SendGridMail, each: Personalization) -> dict[str, Any]:
    at = each.send_at if each.send_at is not None else mail.send_at
    custom = mail.custom_args | each.custom_args
    return {
        "from_email": _box(each.sender or mail.sender),
        "to": [_box(one) for one in each.to],
        "cc": [_box(one) for one in each.cc],
        "bcc": [_box(one) for one in each.bcc],
        "headers": mail.headers | each.headers,
        "custom_data": {CUSTOM_ARGS: custom} if custom else None,
        "scheduled_at": None if at is None else datetime.fromtimestamp(at, UTC),
    }


def _box(box: Box) -> str:
    return format_mailbox((box.name or "").strip(), box.email.strip())


def _attached(file: SendGridFile, html: str | None) -> AttachedFile:
    kind = file.type or mimetypes.guess_type(file.filename)[0] or "application/octet-stream"
    shown = None
    # SendGrid uses content_id for inline files only.
    if file.disposition == "inline" or (
        file.content_id and f"cid:{file.content_id}" in (html or "")
    ):
        shown = file.content_id
    return AttachedFile(
        filename=file.filename,
        content=file.content,
        content_type=kind.partition(";")[0].strip(),
        content_id=shown or None,
    )
