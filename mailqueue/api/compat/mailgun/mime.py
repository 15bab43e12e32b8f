"""Mailgun's messages.mime: finished messages, sent unchanged."""

import re
from functools import partial
from typing import Any
from uuid import uuid5

from mailqueue.api.compat.mailboxes import split_mailbox
from mailqueue.api.compat.mailgun.faults import MissingParameter
from mailqueue.api.compat.mailgun.form import Form
from mailqueue.api.compat.mailgun.options import MailgunOptions, custom_data
from mailqueue.api.compat.mailgun.recipients import mailboxes_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.requests.large_bodies import LARGE_BYTES, in_turn
from mailqueue.api.sending import service as sending_service
from mailqueue.core.address import parse_address
from mailqueue.core.errors import InvalidField
from mailqueue.core.mail_options import MAIL_OPTIONS
from mailqueue.core.trace_context import with_traceparent
from mailqueue.mail.accept.raw import RawEmail, prepared, with_crlf
from mailqueue.mime.rawhead import DEAR_HEAD_BYTES, MAX_HEAD_BYTES, first_field, is_dear

FIELDS = ("from", "to", "cc", "bcc", "subject", "message")
_FIELD = re.compile(rb"[!-9;-~]{1,200}[ \t]*:|[ \t]")
# Options whose names differ for finished messages.
_OPTION = {one.api: one.name for one in MAIL_OPTIONS if one.api}


async def accepted_message(
    call: RequestContext, form: Form, options: MailgunOptions, key: str | None
) -> str:
    """Accept the message of a form and return its Message-ID.

    Raises:
        InvalidField: nothing is stored.
    """
    form.check_names(FIELDS)
    if options.headers or options.reply_to:
        raise InvalidField("h:", "a finished message has its own headers")
    if form.with_prefix("t:") or form.one("recipient-variables"):
        raise InvalidField("t:", "a finished message has no template")
    if options.fields.get("track_opens") or options.fields.get("track_clicks"):
        raise InvalidField("o:tracking", "a finished message is sent unchanged")
    for name in ("from", "cc", "bcc"):
        mailboxes_of(form, name)
    recipients = mailboxes_of(form, "to") + mailboxes_of(form, "cc") + mailboxes_of(form, "bcc")
    if not mailboxes_of(form, "to"):
        raise MissingParameter("to")
    given: dict[str, Any] = {
        _OPTION.get(name, name): value
        for name, value in options.fields.items()
        if not name.startswith("track_")
    }
    if at := given.get("run_at"):
        given["run_at"] = at.isoformat()
    if kept := custom_data(options.variables):
        given["custom_data"] = kept
    if key is not None:
        given["idempotency_key"] = key
    message = _message(form)
    octets = await in_turn(
        call.request,
        lambda: with_separator(with_crlf(message)),
        is_large=len(message) > DEAR_HEAD_BYTES,
    )
    if key is not None and not first_field(octets, "message-id"):
        octets = _own_id(call, key) + octets
    raw = RawEmail(
        octets=octets,
        recipients=tuple(dict.fromkeys(split_mailbox(one)[1] for one in recipients)),
        options=with_traceparent(sending_service.options_for(call.caller, given), call.traceparent),
        by=call.by,
    )
    try:
        is_long = len(octets) > LARGE_BYTES or is_dear(octets)
        ready = await in_turn(call.request, partial(prepared, raw), is_large=is_long)
        sent = await call.runtime.intake.accept_message(call.caller, ready)
    except InvalidField as exc:
        raise sending_service.renamed(exc) from None
    call.name_after(sent.id)
    return first_field(ready.octets, "message-id")


def _own_id(call: RequestContext, key: str) -> bytes:
    """Return a Message-ID that a repeated request gets again, so that its response is the same."""
    own = uuid5(call.caller.project_id, key).hex
    return f"Message-ID: <{own}@{parse_address('x@' + call.path['domain']).domain}>\r\n".encode()


def _message(form: Form) -> bytes:
    files = [one.octets for one in form.files if one.field == "message"]
    if text := form.one("message"):
        files.append(text.encode())
    if len(files) != 1 or len(form.files) > 1:
        if not files:
            raise MissingParameter("message")
        raise InvalidField("message", "is required exactly once")
    return files[0]


def with_separator(raw: bytes) -> bytes:
    """Return a message with an empty line before its body, which is added where it is missing.

    Empty lines before the header are removed, and a header beyond its limit is not read further.
    Lines end in CRLF. Pure.
    """
    raw = raw.lstrip(b"\r\n")
    at = 0
    while at < min(len(raw), MAX_HEAD_BYTES):
        if raw.startswith(b"\r\n", at):
            return raw
        if _FIELD.match(raw, at) is None:
            return raw[:at] + b"\r\n" + raw[at:] if at else raw
        at = raw.index(b"\r\n", at) + 2
    return raw
