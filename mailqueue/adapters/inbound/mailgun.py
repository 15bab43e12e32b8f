"""Mailgun's webhooks, signed with an HMAC over timestamp and token, but not over the event.

Follows documentation.mailgun.com/docs/mailgun/user-manual/events/webhooks, read in November 2026.
Each token is accepted once: otherwise a recorded signature could be used for forged events.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from mailqueue.adapters.inbound.event_types import ID_NAME, ProviderEventType, ProviderSuppression
from mailqueue.adapters.inbound.json_values import (
    MAX_URL_CHARACTERS,
    address,
    instant,
    known,
    loaded,
    mail_id,
    network,
    part,
    text,
)
from mailqueue.adapters.inbound.proof import digest_of, is_fresh, is_one_of, seconds_of
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    JsonObject,
    NotVerified,
    ProviderEvent,
    VerificationSecrets,
    Verified,
)

MAX_AGE = timedelta(hours=9)  # Mailgun retries for eight hours
MAX_AHEAD = timedelta(minutes=5)
TYPE_BY_EVENT: Mapping[str, str] = {
    "accepted": ProviderEventType.SENT,
    "stored": ProviderEventType.SENT,
    "delivered": ProviderEventType.DELIVERED,
    "rejected": ProviderEventType.FAILED,
    "opened": ProviderEventType.OPENED,
    "clicked": ProviderEventType.CLICKED,
    "complained": ProviderEventType.COMPLAINT,
    "unsubscribed": ProviderEventType.UNSUBSCRIBED,
}
BECAUSE_BY_REASON: Mapping[str, str] = {
    "suppress-bounce": ProviderSuppression.HARD_BOUNCE,
    "suppress-complaint": ProviderSuppression.COMPLAINT,
    "suppress-unsubscribe": ProviderSuppression.UNSUBSCRIBED,
}
BECAUSE_BY_CODE: Mapping[int, str] = {
    605: ProviderSuppression.HARD_BOUNCE,
    606: ProviderSuppression.UNSUBSCRIBED,
    607: ProviderSuppression.COMPLAINT,
}
_MAILBOX_CODES = frozenset({550, 551, 553})
_DEAD = re.compile(r"5\.1\.(?:1|2|3|4|6|10)")
_VAGUE = re.compile(r"5\.(?:[05]\.0|1\.0|2\.0)")
_ENHANCED = re.compile(r"\b([245]\.\d{1,3}\.\d{1,3})\b")
_NO_MAILBOX = re.compile(
    r"user unknown|unknown user|no such (?:user|recipient|mailbox|address)"
    r"|does(?: not|n't) exist"
    r"|unknown (?:recipient|mailbox|address)"
    r"|(?:mailbox|user|recipient|address) (?:is )?(?:not found|unavailable|unknown|invalid)"
    r"|invalid (?:recipient|mailbox|user)|not a valid",
    re.IGNORECASE,
)
_POLICY = re.compile(
    r"spam|block|blacklist|reputation|policy|\b(?:dmarc|spf|dkim|rate|listed)\b|quota|full",
    re.IGNORECASE,
)


class MailgunEvents:
    """Verifies and parses the events of Mailgun."""

    name = "mailgun"
    max_bytes = 1024 * 1024

    async def verify(
        self, request: InboundRequest, secrets: VerificationSecrets, now: datetime
    ) -> Verified | NotVerified:
        """Check the age, and the HMAC with the account's signing keys."""
        signature = part(loaded(request.body), "signature")
        timestamp = part(signature, "timestamp")
        token, given = part(signature, "token"), part(signature, "signature")
        if isinstance(timestamp, int) and not isinstance(timestamp, bool):
            timestamp = str(timestamp)
        if not (isinstance(timestamp, str) and isinstance(token, str) and isinstance(given, str)):
            return NotVerified("the request is not signed")
        seconds = seconds_of(timestamp)
        if seconds is None or not 10 <= len(token) <= 200 or not token.isascii():
            return NotVerified("the request is not signed")
        if not is_fresh(seconds, now, past=MAX_AGE, ahead=MAX_AHEAD):
            return NotVerified("the timestamp is too old or in the future")
        signed = (timestamp + token).encode()
        right = [
            hmac.digest(key.encode(), signed, "sha256").hex() for key in secrets.signing if key
        ]
        if not is_one_of(given, right):
            return NotVerified("the signature is wrong")
        return Verified(token)

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return the event of a request."""
        payload = part(loaded(request.body), "event-data")
        if not isinstance(payload, Mapping):
            return [BadEvent("event-data is missing")]
        kind = text(payload.get("event"), 100)
        if kind is None:
            return [BadEvent("event-data without event")]
        what, suppress = _meaning(kind, payload)
        if part(payload, "flags", "is-test-mode") is True:
            what, suppress = None, None
        at = instant(payload.get("timestamp"))
        return [
            ProviderEvent(
                type=what,
                kind=kind,
                event_id=_event_id(payload, at, request.body),
                email_id=mail_id(part(payload, "user-variables", ID_NAME)),
                provider_message_id=_bracketed(part(payload, "message", "headers", "message-id")),
                message_id=_bracketed(part(payload, "message", "headers", "message-id")),
                recipient=_recipient(payload),
                occurred_at=at,
                code=_code(payload),
                detail=_detail(payload),
                suppress=suppress,
                data=_data(payload),
            )
        ]


def _event_id(payload: JsonObject, at: datetime | None, body: bytes) -> str:
    given = text(payload.get("id"), 200)
    if given is None:
        return digest_of(body)
    return f"{at:%Y-%m-%d}:{given}" if at else given  # Mailgun documents ids as unique within a day


def _recipient(payload: JsonObject) -> str | None:
    """Return the recipient; events of rejected mail name it in the headers only."""
    return address(payload.get("recipient")) or address(part(payload, "message", "headers", "to"))


def _bracketed(value: Any) -> str | None:
    """Return the Message-ID in angle brackets, as the response to sending has it."""
    found = text(value)
    return None if found is None else f"<{found.strip('<>')}>"


def _meaning(kind: str, payload: JsonObject) -> tuple[str | None, str | None]:
    if kind != "failed":
        return TYPE_BY_EVENT.get(kind), None
    reason = (text(payload.get("reason"), 100) or "").lower()
    number = _number(part(payload, "delivery-status", "code"))
    because = BECAUSE_BY_REASON.get(reason) or BECAUSE_BY_CODE.get(number)
    if text(payload.get("severity")) == "temporary":
        return ProviderEventType.DEFERRED, None
    if because or reason.startswith("suppress-") or number >= 600:
        return ProviderEventType.FAILED, because
    return (
        ProviderEventType.HARD_BOUNCE
        if _is_dead(payload, number)
        else ProviderEventType.SOFT_BOUNCE
    ), None


def _is_dead(payload: JsonObject, number: int) -> bool:
    """Return whether the mailbox was refused permanently."""
    if not 500 <= number <= 599:
        return False
    code, detail = _code(payload), _detail(payload) or ""
    if code and not _VAGUE.fullmatch(code):
        return bool(_DEAD.fullmatch(code))
    reason = (text(payload.get("reason"), 100) or "").lower()
    if number not in _MAILBOX_CODES or not reason.endswith("bounce"):
        return False
    return bool(_NO_MAILBOX.search(detail)) and not _POLICY.search(detail)


def _code(payload: JsonObject) -> str | None:
    status = part(payload, "delivery-status")
    given = text(part(status, "enhanced-code"), 20)
    if given:
        return given
    found = _ENHANCED.search(text(part(status, "message")) or "")
    return found[1] if found else None


def _detail(payload: JsonObject) -> str | None:
    status = part(payload, "delivery-status")
    message, more = text(part(status, "message")), text(part(status, "description"))
    told = text(part(payload, "reject", "reason")) or text(payload.get("reason"))
    return message or more or told


def _number(value: Any) -> int:
    found = text(value, 4)
    return int(found) if found and found.isascii() and found.isdigit() else 0


def _data(payload: JsonObject) -> JsonObject:
    return known(
        severity=text(payload.get("severity"), 50),
        reason=text(payload.get("reason"), 100),
        url=text(payload.get("url"), MAX_URL_CHARACTERS),
        ip=network(payload.get("ip")),
        user_agent=text(part(payload, "client-info", "user-agent"), 300),
        is_delayed=True if part(payload, "flags", "is-delayed-bounce") is True else None,
    )
