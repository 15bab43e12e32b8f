"""Resend, POST /emails, and POST /emails/batch for several emails.

Follows github.com/resend/resend-openapi (resend.yaml) and resend.com/docs/api-reference, read in
November 2026. Resend recognizes a repeated request by its Idempotency-Key for about a day.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import orjson

from mailqueue.adapters.http.model import HttpOrigin, HttpRequest, HttpResponse
from mailqueue.adapters.sending import outcomes
from mailqueue.adapters.sending.api import (
    ProviderAccount,
    ProviderApi,
    ProviderMail,
    named_tags_of,
)
from mailqueue.adapters.sending.limits import MEGABYTE, ProviderLimits, objection, of_account
from mailqueue.adapters.sending.outcomes import cannot_carry
from mailqueue.adapters.sending.parts import MessageAttachment, Parts, People, mailbox, parts_of
from mailqueue.core.limits import bounded, limit_in
from mailqueue.core.verdict import Accepted, Rejected, Verdict
from mailqueue.ports.transport import SendAttempt

BOUNDS = ProviderLimits("Resend", octets=40 * MEGABYTE, recipients=50)
BATCH_MAILS = 100
RESERVED_FIELDS = frozenset(
    {"cc", "bcc", "reply_to", "html", "text", "headers", "attachments", "tags"}
)
# Resend accepts a file whose name does not match its type, then drops the email silently.
TYPE_BY_ENDING = {
    "pdf": "application/pdf",
    "gif": "image/gif",
    "png": "image/png",
    "webp": "image/webp",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
}

# By status and name.
MEANING_BY_NAME = {
    "400 invalid_idempotency_key": outcomes.MESSAGE,
    "400 validation_error": outcomes.MESSAGE,
    "401 missing_api_key": outcomes.ACCOUNT,
    "401 restricted_api_key": outcomes.ACCOUNT,
    "403 invalid_api_key": outcomes.ACCOUNT,
    "403 validation_error": outcomes.SENDER,  # the domain, or a test account's recipient
    "409 concurrent_idempotent_requests": outcomes.TRANSIENT,
    "422 invalid_attachment": outcomes.MESSAGE,
    "422 invalid_from_address": outcomes.MESSAGE,
    "422 invalid_parameter": outcomes.MESSAGE,
    "422 missing_required_field": outcomes.MESSAGE,
    "422 validation_error": outcomes.MESSAGE,
    "422 invalid_access": outcomes.MESSAGE,
    "422 invalid_region": outcomes.MESSAGE,
    "429 rate_limit_exceeded": outcomes.RATE_LIMITED,
    "429 daily_quota_exceeded": outcomes.PAUSED,
    "429 monthly_quota_exceeded": outcomes.PAUSED,
    "500 application_error": outcomes.TRANSIENT,
    "500 internal_server_error": outcomes.TRANSIENT,
}


class Resend(ProviderApi):
    """The API for one key."""

    most_in_call = BATCH_MAILS
    max_call_bytes = 40 * MEGABYTE
    is_repeatable = True

    def __init__(self, access: ProviderAccount) -> None:
        self._bounds = of_account(BOUNDS, access.settings)
        self.site = access.site or HttpOrigin("https", "api.resend.com", 443)
        self.secrets = (access.secret,)
        self._access = access

    def write(self, mail: SendAttempt) -> ProviderMail | Rejected:
        parts = parts_of(mail)
        if not parts.to:
            return cannot_carry("Resend needs a recipient in to, but only blind copies remain")
        for file in parts.files:
            known = TYPE_BY_ENDING.get(file.name.rpartition(".")[2].lower())
            if known not in (None, file.content_type):
                return cannot_carry(f"Resend drops email with a {file.content_type}: {file.name}")
        octets = orjson.dumps(self._body(mail, parts))
        refused = objection(self._bounds, mail, octets=len(octets))
        copy = f"/{_short(parts.to[0].address)}" if parts.is_blind else ""
        return refused or ProviderMail(mail, octets, goes_alone=bool(parts.files), copy=copy)

    def _body(self, mail: SendAttempt, parts: Parts) -> dict[str, Any]:
        headers = dict(parts.headers)
        if parts.message_id and self._access.settings.get("keep_message_id", True):
            headers["Message-ID"] = parts.message_id
        tags = named_tags_of(mail)
        body: dict[str, Any] = {
            **self._access.extra(but=RESERVED_FIELDS),
            "from": _mailboxes((parts.sender,))[0],
            "to": _mailboxes(parts.to),
            "subject": parts.subject,
        }
        named = {
            "cc": _mailboxes(parts.cc),
            "bcc": _mailboxes(parts.bcc),
            "reply_to": _mailboxes(parts.reply_to),
            "html": parts.html,
            "text": parts.text,
            "headers": headers,
            "attachments": [_attachment(file) for file in parts.files],
            "tags": [{"name": name, "value": value} for name, value in tags.items()],
        }
        return body | {name: value for name, value in named.items() if value}

    def call(self, group: Sequence[ProviderMail]) -> HttpRequest:
        ids = [f"{one.mail.email_id}{one.copy}" for one in group]
        headers = [
            ("Authorization", f"Bearer {self._access.secret.reveal()}"),
            ("Content-Type", "application/json"),
        ]
        if len(group) == 1:
            headers.append(("Idempotency-Key", f"mailqueue/{ids[0]}"))
            return HttpRequest("POST", "/emails", tuple(headers), group[0].octets)
        body = b"[" + b",".join(one.octets for one in group) + b"]"
        key = hashlib.sha256(" ".join(ids).encode()).hexdigest()
        headers += [
            ("Idempotency-Key", f"mailqueue/batch/{key}"),
            ("x-batch-validation", "permissive"),  # an invalid email does not stop the others
        ]
        return HttpRequest("POST", "/emails/batch", tuple(headers), body)

    def judge(self, group: Sequence[ProviderMail], answer: HttpResponse) -> Sequence[Verdict]:
        parsed = answer.document()
        parsed = parsed if isinstance(parsed, dict) else {}
        if len(group) > 1 and answer.is_success:
            return _each(group, answer, parsed)
        return [_judged(answer, parsed)] * len(group)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _mailboxes(people: People) -> list[str]:
    return [mailbox(one) for one in people]


def _attachment(file: MessageAttachment) -> dict[str, str]:
    attachment = {
        "filename": file.name,
        "content": base64.b64encode(file.octets).decode(),
        "content_type": file.content_type,
    }
    return attachment | ({"content_id": file.content_id} if file.content_id else {})


def _judged(answer: HttpResponse, parsed: dict[str, Any]) -> Verdict:
    message_id = parsed.get("id")
    if answer.is_success and isinstance(message_id, str) and message_id:
        return Accepted("200", "accepted", provider_message_id=message_id)
    name = str(parsed.get("name") or "")
    if answer.status == 409 and name == "invalid_idempotent_request":
        # Accepted earlier under this key, with slightly different content.
        return Accepted("409", "accepted before under the same idempotency key")
    if answer.status < 400 or not name:
        return outcomes.not_understood(answer)
    detail = f"{name}: {parsed.get('message') or ''}"
    known = MEANING_BY_NAME.get(f"{answer.status} {name}")
    meaning = known or outcomes.meaning_of(answer.status, detail)
    return outcomes.refused(answer, meaning, detail, retry_after=_reset(answer))


def _reset(answer: HttpResponse) -> timedelta | None:
    text = answer.headers.get("ratelimit-reset", "")
    if answer.status != 429 or "retry-after" in answer.headers:
        return None
    if not re.fullmatch(r"[0-9]{1,6}", text):
        return None
    return bounded(timedelta(seconds=int(text)))


def _each(
    group: Sequence[ProviderMail], answer: HttpResponse, parsed: dict[str, Any]
) -> list[Verdict]:
    """Return the verdicts of a batch response: ids of accepted emails, indexes of the others."""
    given = parsed.get("data")
    if not isinstance(given, list):
        return [outcomes.not_understood(answer)] * len(group)
    verdicts: list[Verdict | None] = [None] * len(group)
    for error in parsed.get("errors") or []:
        place = error.get("index") if isinstance(error, dict) else None
        if isinstance(place, int) and 0 <= place < len(group):
            detail = str(error.get("message") or "refused in a batch")
            limit = limit_in(detail)
            meaning = outcomes.MESSAGE if limit is None else outcomes.RATE_LIMITED
            verdicts[place] = outcomes.refused(answer, meaning, detail)
    left = [place for place, verdict in enumerate(verdicts) if verdict is None]
    ids = [one.get("id") if isinstance(one, dict) else None for one in given]
    if len(ids) == len(group) != len(left):  # the list may have gaps for refused emails
        ids = [ids[place] for place in left]
    for place, found in zip(left, ids, strict=False):
        if isinstance(found, str) and found:
            verdicts[place] = Accepted("200", "accepted", provider_message_id=found)
    if len(ids) != len(left):
        verdicts = [one if isinstance(one, Rejected) else None for one in verdicts]
    lost = outcomes.refused(answer, outcomes.AMBIGUOUS, "the response does not match the batch")
    return [one or lost for one in verdicts]
