"""Build the mails of a Mailgun request: one, or one for each recipient. Pure."""

import base64
import mimetypes
from dataclasses import dataclass, replace
from typing import Any

from mailqueue.api.compat.accepting import CompatTemplateRequest, OneRefused, Wanted
from mailqueue.api.compat.batch import Budget
from mailqueue.api.compat.mailboxes import split_mailbox
from mailqueue.api.compat.mailgun.faults import NO_BODY, NoBody
from mailqueue.api.compat.mailgun.form import Form, FormFile
from mailqueue.api.compat.mailgun.options import MailgunOptions, custom_data, object_of
from mailqueue.api.compat.mailgun.recipients import (
    MAX_CHARACTERS,
    PLACE,
    TAG,
    Recipients,
    VariableInserter,
    recipients_of,
    sender_of,
    with_links,
)
from mailqueue.api.sending.schema import AttachedFile, SendRequest
from mailqueue.core.errors import InvalidField

FIELDS = (
    "from",
    "to",
    "cc",
    "bcc",
    "subject",
    "text",
    "html",
    "template",
    "recipient-variables",
    "attachment",
    "inline",
)
_FILES = ("attachment", "inline")
_TEMPLATE = frozenset({"version", "text", "variables"})


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """Parsed content, recipients and options of a request."""

    sender: str
    recipients: Recipients
    subject: str | None
    html: str | None
    text: str | None
    tagged: frozenset[str]
    template: str | None
    version: str | None
    variables: dict[str, Any]
    files: list[AttachedFile]
    options: MailgunOptions


def parse_request(form: Form, options: MailgunOptions) -> ParsedRequest:
    """Parse a request.

    Raises:
        InvalidField: the first field that is invalid or not supported.
        NoBody: it has no content.
    """
    form.check_names(FIELDS)
    sender, recipients = sender_of(form), recipients_of(form)
    html, text = (with_links(form.one(name), name) for name in ("html", "text"))
    if PLACE in f"{html}{text}":
        options = replace(options, fields=options.fields | {"unsubscribe": True})
    template = form.one("template")
    own = form.with_prefix("t:")
    for name in own:
        if name not in _TEMPLATE or template is None:
            why = "is not supported or not known"
            raise InvalidField(
                f"t:{name[:100]}", why if name not in _TEMPLATE else "without template"
            )
    if html is None and text is None and template is None:
        raise NoBody(NO_BODY)
    if template is not None and (html or text):
        raise InvalidField("html" if html else "text", "cannot be given together with template")
    variables: dict[str, Any] = dict(options.variables)
    if given := form.one("t:variables"):
        variables |= object_of("t:variables", given)
    return ParsedRequest(
        sender=sender,
        recipients=recipients,
        subject=form.one("subject"),
        html=html,
        text=text,
        # Searched once: there may be a thousand mails of many megabytes.
        tagged=frozenset(
            name for name, said in (("html", html), ("text", text)) if TAG in (said or "")
        ),
        template=template,
        version=form.one("t:version"),
        variables=variables,
        files=_files(form),
        options=options,
    )


def mails_of(meant: ParsedRequest, key: str | None) -> list[Wanted]:
    """Return the mails in the order of their recipients; `key` is the base of their idempotency
    keys.

    Raises:
        OneRefused: with all values inserted the mails would be too large.
    """
    whom = meant.recipients
    if whom.variables is None:
        return [_mail(meant, whom.to, VariableInserter("", {}, Budget(MAX_CHARACTERS)), key)]
    budget = Budget(MAX_CHARACTERS)
    mails = []
    for index, one in enumerate(whom.to):
        address = split_mailbox(one)[1]
        putting = VariableInserter(address, whom.variables.get(address.lower(), {}), budget)
        own_key = None if key is None else f"{key}/{index}"
        try:
            mails.append(_mail(meant, [one], putting, own_key))
        except InvalidField as exc:
            raise OneRefused(index, exc) from None
    return mails


def _mail(
    meant: ParsedRequest, to: list[str], putting: VariableInserter, key: str | None
) -> Wanted:
    options = meant.options
    user = {name: putting.into(text, f"v:{name}") for name, text in options.variables.items()}
    headers = {name: putting.into(text, f"h:{name}") for name, text in options.headers.items()}
    given = {
        **options.fields,
        "from_email": meant.sender,
        "to": to,
        "cc": meant.recipients.cc,
        "bcc": meant.recipients.bcc,
        "reply_to": options.reply_to and putting.into(options.reply_to, "h:Reply-To"),
        "headers": {name: text for name, text in headers.items() if text},
        "attachments": meant.files,
        "custom_data": custom_data(user),
        "idempotency_key": key,
    }
    subject = meant.subject and putting.into(meant.subject, "subject")
    if meant.template is None:
        return SendRequest.model_construct(
            **given,
            subject=subject or "",
            html_body=_put(meant.html, "html", meant, putting),
            text_body=_put(meant.text, "text", meant, putting),
        )
    named = {
        "template_slug": meant.template,
        "template_version": meant.version,
        "variables": putting.into_all(meant.variables, "t:variables"),
    }
    return CompatTemplateRequest.model_construct(**given, **named, subject=subject or None)


def _put(
    text: str | None, field: str, meant: ParsedRequest, putting: VariableInserter
) -> str | None:
    if text is None or field not in meant.tagged:
        return text
    return putting.into(text, field)


def _files(form: Form) -> list[AttachedFile]:
    for name in _FILES:
        if form.all(name):
            raise InvalidField(name, "must be a file")
    return [_file(one) for one in form.files]


def _file(one: FormFile) -> AttachedFile:
    if one.field not in _FILES:
        raise InvalidField(one.field[:100], "must be text, not a file")
    if not one.filename:
        raise InvalidField(one.field, "must have a filename")
    kind = one.content_type or mimetypes.guess_type(one.filename)[0] or "application/octet-stream"
    return AttachedFile(
        filename=one.filename,
        content=base64.b64encode(one.octets).decode(),
        content_type=kind.partition(";")[0].strip(),
        content_id=one.filename if one.field == "inline" else None,
    )
