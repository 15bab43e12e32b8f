"""SendGrid v3, POST /v3/mail/send, one email per request.

Follows github.com/sendgrid/sendgrid-oai (oai.json) and docs.sendgrid.com/api-reference/mail-send,
read in November 2026. SendGrid replaces the Message-ID.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from mailqueue.adapters.http.model import HttpOrigin, HttpRequest, HttpResponse
from mailqueue.adapters.sending import outcomes
from mailqueue.adapters.sending.api import (
    ProviderAccount,
    ProviderApi,
    ProviderMail,
    metadata_of,
    tags_of,
)
from mailqueue.adapters.sending.limits import MEGABYTE, ProviderLimits, objection, of_account
from mailqueue.adapters.sending.outcomes import cannot_carry
from mailqueue.adapters.sending.parts import MessageAttachment, Parts, People, parts_of
from mailqueue.core.limits import bounded
from mailqueue.core.verdict import Accepted, Rejected, Verdict
from mailqueue.ports.transport import SendAttempt

PATH = "/v3/mail/send"
BOUNDS = ProviderLimits(
    "SendGrid",
    octets=30 * MEGABYTE,
    recipients=1000,
    tags=10,
    takes_unicode=True,
    no_headers=frozenset({"x-sg-id", "x-sg-eid", "received", "dkim-signature", "sender"}),
)
RESERVED_FIELDS = frozenset({"reply_to", "reply_to_list", "headers", "attachments", "categories"})
_RECIPIENT_FIELD = re.compile(r"personalizations\.0\.(to|cc|bcc)(?:\.(\d+))?\.email")


class SendGrid(ProviderApi):
    """The API for one key."""

    def __init__(self, access: ProviderAccount) -> None:
        self._bounds = of_account(BOUNDS, access.settings)
        self.site = access.site or HttpOrigin("https", "api.sendgrid.com", 443)
        self._access = access
        self.secrets = (access.secret,)

    def write(self, mail: SendAttempt) -> ProviderMail | Rejected:
        parts = parts_of(mail)
        if not parts.sender.address.isascii():
            return cannot_carry(
                f"SendGrid accepts no sender with characters beyond ASCII: {parts.sender.address}"
            )
        if not parts.to:
            return cannot_carry("SendGrid needs a recipient in To, but only blind copies remain")
        content = [
            {"type": content_type, "value": value}
            for content_type, value in (("text/plain", parts.text), ("text/html", parts.html))
            if value
        ]
        if not content:
            return cannot_carry("SendGrid accepts no email without a text")
        octets = orjson.dumps(self._body(mail, parts, content))
        refused = objection(
            self._bounds, mail, octets=len(octets), headers=[name for name, _ in parts.headers]
        )
        return refused or ProviderMail(mail, octets)

    def _body(
        self, mail: SendAttempt, parts: Parts, content: Sequence[Mapping[str, str]]
    ) -> dict[str, Any]:
        one: dict[str, Any] = {"to": _people(parts.to)}
        one |= {"cc": _people(parts.cc)} if parts.cc else {}
        one |= {"bcc": _people(parts.bcc)} if parts.bcc else {}
        one["custom_args"] = metadata_of(mail)
        body: dict[str, Any] = {
            **self._access.extra(but=RESERVED_FIELDS),
            "personalizations": [one],
            "from": _people((parts.sender,))[0],
            "subject": parts.subject,
            "content": content,
        }
        if parts.reply_to:
            name = "reply_to" if len(parts.reply_to) == 1 else "reply_to_list"
            everyone = _people(parts.reply_to)
            body[name] = everyone[0] if name == "reply_to" else everyone
        if parts.headers:
            body["headers"] = dict(parts.headers)
        if parts.files:
            body["attachments"] = [_attachment(file) for file in parts.files]
        if tags := tags_of(mail):
            body["categories"] = [tag[:255] for tag in tags]
        return body

    def call(self, group: Sequence[ProviderMail]) -> HttpRequest:
        subuser = self._access.setting("subuser")
        headers = (
            ("Authorization", f"Bearer {self._access.secret.reveal()}"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
            *([("on-behalf-of", subuser)] if subuser else []),
        )
        return HttpRequest("POST", PATH, headers, group[0].octets)

    def judge(self, group: Sequence[ProviderMail], answer: HttpResponse) -> Sequence[Verdict]:
        return [_judged(group[0].mail, answer)]


def _people(people: People) -> list[dict[str, str]]:
    return [
        {"email": one.address, **({"name": _name(one.name)} if one.name else {})} for one in people
    ]


def _name(name: str) -> str:
    # SendGrid splits lists at these characters, as its own libraries document.
    return '"' + name.replace('"', "'") + '"' if "," in name or ";" in name else name


def _attachment(file: MessageAttachment) -> dict[str, str]:
    attachment = {
        "content": base64.b64encode(file.octets).decode(),
        "filename": file.name,
        "type": file.content_type,
        "disposition": "inline" if file.content_id else "attachment",
    }
    return attachment | ({"content_id": file.content_id} if file.content_id else {})


def _judged(mail: SendAttempt, answer: HttpResponse) -> Verdict:
    if answer.status == 202 and not answer.body.strip():
        message_id = answer.headers.get("x-message-id") or None
        return Accepted("202", "accepted", provider_message_id=message_id)
    errors = _errors(answer)
    if answer.status < 400 or not errors:
        return outcomes.not_understood(answer)
    detail = "; ".join(_words(error) for error in errors)
    fields = [str(error.get("field") or "") for error in errors]
    if answer.status == 400 and (found := _RECIPIENT_FIELD.search(" ".join(fields))):
        return outcomes.about_recipient(mail, answer, detail, address=_address(mail, found))
    if answer.status == 403 and "from" in fields:
        return outcomes.refused(answer, outcomes.SENDER, detail)
    wait = _reset(answer) if answer.status == 429 else None
    meaning = outcomes.meaning_of(answer.status, detail)
    if meaning is outcomes.UNRECOGNIZED:
        if answer.status == 400 and any(fields):  # the error names a field of the email
            meaning = outcomes.MESSAGE
        elif answer.status == 403 and "access forbidden" in detail.lower():
            meaning = outcomes.ACCOUNT  # SendGrid's text for a key without permission to send
    return outcomes.refused(answer, meaning, detail, retry_after=wait)


def _errors(answer: HttpResponse) -> list[dict[str, Any]]:
    parsed = answer.document()
    found = parsed.get("errors") if isinstance(parsed, dict) else None
    if not isinstance(found, list):
        return []
    return [error for error in found if isinstance(error, dict)]


def _words(error: Mapping[str, Any]) -> str:
    field, message = error.get("field"), str(error.get("message") or "")
    return f"{message} ({field})" if field else message


def _address(mail: SendAttempt, match: re.Match[str]) -> str | None:
    parts = parts_of(mail)
    people = {"to": parts.to, "cc": parts.cc, "bcc": parts.bcc}[match[1]]
    number = int(match[2] or 0)
    return people[number].address if number < len(people) else None


def _reset(answer: HttpResponse) -> timedelta | None:
    """Return the wait until the rate limit is reset, from a header in Unix seconds."""
    text = answer.headers.get("x-ratelimit-reset", "")
    if "retry-after" in answer.headers or not re.fullmatch(r"[0-9]{1,12}", text):
        return None
    return bounded(timedelta(seconds=int(text) - datetime.now(UTC).timestamp()))
