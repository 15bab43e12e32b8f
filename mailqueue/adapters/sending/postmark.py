"""Postmark, POST /email, and POST /email/batch for several emails.

Follows postmarkapp.com/developer/api/email-api and github.com/ActiveCampaign/postmark.js, read in
November 2026. The error code in the body decides; the codes resemble HTTP statuses but differ.
"""

import base64
import re
from collections.abc import Sequence
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
from mailqueue.adapters.sending.outcomes import Meaning, cannot_carry
from mailqueue.adapters.sending.parts import MessageAttachment, Parts, People, mailbox, parts_of
from mailqueue.core.verdict import Accepted, Refused, Rejected, Verdict
from mailqueue.ports.transport import SendAttempt

BOUNDS = ProviderLimits("Postmark", octets=10 * MEGABYTE, recipients=50, tags=1)
MAX_BATCH_BYTES = 50 * MEGABYTE
BATCH_MAILS = 500
RESERVED_FIELDS = frozenset(
    {"cc", "bcc", "replyto", "textbody", "htmlbody", "tag", "headers", "attachments"}
)

BATCH_FAILED = 11  # error code of a batch in which some emails failed
MEANING_BY_CODE = {
    10: outcomes.ACCOUNT,
    100: outcomes.TRANSIENT,
    300: outcomes.MESSAGE,
    400: outcomes.SENDER,
    401: outcomes.SENDER,
    402: outcomes.MESSAGE,
    403: outcomes.MESSAGE,
    405: outcomes.PAUSED,  # not enough credits
    406: outcomes.GONE,
    409: outcomes.MESSAGE,
    410: outcomes.MESSAGE,
    411: outcomes.MESSAGE,
    412: outcomes.SENDER,
    413: outcomes.ACCOUNT,
    1235: outcomes.PAUSED,  # the account's message stream
    1236: outcomes.PAUSED,
}
_BAD_RECIPIENT = re.compile(r"(?:invalid|error parsing) '(?:to|cc|bcc)'", re.IGNORECASE)
_INACTIVE = re.compile(r"(?<![^:])([^:]*)\. Inactive recipients", re.IGNORECASE)


class Postmark(ProviderApi):
    """The API for one server token and its message stream."""

    most_in_call = BATCH_MAILS
    max_call_bytes = MAX_BATCH_BYTES

    def __init__(self, access: ProviderAccount) -> None:
        self._bounds = of_account(BOUNDS, access.settings)
        self.site = access.site or HttpOrigin("https", "api.postmarkapp.com", 443)
        self.secrets = (access.secret,)
        self._access = access

    def write(self, mail: SendAttempt) -> ProviderMail | Rejected:
        parts = parts_of(mail)
        if not parts.to:
            return cannot_carry("Postmark needs a recipient in To, but only blind copies remain")
        octets = orjson.dumps(self._body(mail, parts))
        refused = objection(self._bounds, mail, octets=len(octets))
        return refused or ProviderMail(mail, octets)

    def _body(self, mail: SendAttempt, parts: Parts) -> dict[str, Any]:
        body: dict[str, Any] = {
            **self._access.extra(but=RESERVED_FIELDS),
            "From": _mailboxes((parts.sender,)),
            "To": _mailboxes(parts.to),
            "Subject": parts.subject,
            "Metadata": metadata_of(mail),
        }
        headers = list(parts.headers)
        if parts.message_id and self._access.settings.get("keep_message_id", True):
            headers += [("Message-ID", parts.message_id), ("X-PM-KeepID", "true")]
        named = {
            "Cc": _mailboxes(parts.cc),
            "Bcc": _mailboxes(parts.bcc),
            "ReplyTo": _mailboxes(parts.reply_to),
            "TextBody": parts.text,
            "HtmlBody": parts.html,
            "Tag": next(iter(tags_of(mail)), None),
            "MessageStream": self._access.setting("message_stream"),
            "Headers": [{"Name": name, "Value": value} for name, value in headers],
            "Attachments": [_attachment(file) for file in parts.files],
        }
        return body | {name: value for name, value in named.items() if value}

    def call(self, group: Sequence[ProviderMail]) -> HttpRequest:
        headers = (
            ("X-Postmark-Server-Token", self._access.secret.reveal()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
        )
        if len(group) == 1:
            return HttpRequest("POST", "/email", headers, group[0].octets)
        body = b"[" + b",".join(one.octets for one in group) + b"]"
        return HttpRequest("POST", "/email/batch", headers, body)

    def judge(self, group: Sequence[ProviderMail], answer: HttpResponse) -> Sequence[Verdict]:
        parsed = answer.document()
        if len(group) > 1 and answer.is_success:
            if isinstance(parsed, list) and len(parsed) == len(group):
                return [
                    _judged(one.mail, answer, each) for one, each in zip(group, parsed, strict=True)
                ]
            # The emails were judged, but the results cannot be matched to them.
            if isinstance(parsed, list):
                why = "the response does not match the batch"
                return [outcomes.refused(answer, outcomes.AMBIGUOUS, why)] * len(group)
            return [outcomes.not_understood(answer)] * len(group)
        return [_judged(one.mail, answer, parsed) for one in group]


def _mailboxes(people: People) -> str:
    return ", ".join(mailbox(one) for one in people)


def _attachment(file: MessageAttachment) -> dict[str, str]:
    attachment = {
        "Name": file.name,
        "Content": base64.b64encode(file.octets).decode(),
        "ContentType": file.content_type,
    }
    return attachment | ({"ContentID": f"cid:{file.content_id}"} if file.content_id else {})


def _judged(mail: SendAttempt, answer: HttpResponse, parsed: Any) -> Verdict:
    parsed = parsed if isinstance(parsed, dict) else {}
    code, text = parsed.get("ErrorCode"), str(parsed.get("Message") or "")
    message_id = parsed.get("MessageID")
    if answer.is_success and code in (0, None) and isinstance(message_id, str) and message_id:
        return Accepted(
            "200", outcomes.cleaned(text), "", message_id, _inactive(mail, answer, text)
        )
    if not isinstance(code, int) or code == 0:
        return _without_code(answer)
    if code == BATCH_FAILED and isinstance(errors := parsed.get("Errors"), list) and errors:
        return _judged(mail, answer, _first(errors, text))
    if code == 300 and _BAD_RECIPIENT.search(text):
        return outcomes.about_recipient(mail, answer, text)
    meaning, detail = _meaning(answer, code, text), f"{text} (error code {code})"
    if meaning is outcomes.GONE:
        return outcomes.about_recipient(mail, answer, detail, hard=True)
    return outcomes.refused(answer, meaning, detail)


def _first(errors: list[Any], text: str) -> dict[str, Any]:
    first = errors[0] if isinstance(errors[0], dict) else {}
    code = first.get("ErrorCode")
    return {"ErrorCode": 300, "Message": text} if code in (None, BATCH_FAILED) else first


def _without_code(answer: HttpResponse) -> Rejected:
    if answer.status == 403:  # from a network filter, not the API
        return outcomes.refused(answer, outcomes.TRANSIENT, "refused before it reached the API")
    return outcomes.not_understood(answer)


def _meaning(answer: HttpResponse, code: int, text: str) -> Meaning:
    if answer.status not in (401, 429, 500, 503) and code in MEANING_BY_CODE:
        return MEANING_BY_CODE[code]
    # Unknown codes of an email in a batch are read like those of a single request.
    return outcomes.meaning_of(422 if answer.is_success else answer.status, text)


def _inactive(mail: SendAttempt, answer: HttpResponse, text: str) -> tuple[Refused, ...]:
    """Return the recipients that were left out of an email that was accepted for the others."""
    found = _INACTIVE.search(text)
    if found is None:
        return ()
    inactive = {word.strip().lower() for word in found[1].split(",")}
    why = outcomes.refused(answer, outcomes.GONE, "inactive recipient")
    return tuple(Refused(one, why) for one in mail.envelope.recipients if one.lower() in inactive)
