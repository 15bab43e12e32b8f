"""Mailgun's webhooks: an HMAC over time and token, which says nothing of the event beside it.

Follows documentation.mailgun.com/docs/mailgun/user-manual/events/webhooks, read in November 2026. A
token is good once: whoever saw one request could otherwise sign what he likes with it.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from mailqueue.adapters.inbound.json_values import (
    MAX_URL_CHARACTERS,
    Json,
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
from mailqueue.adapters.inbound.words import ID_NAME, Because, Happened
from mailqueue.ports.inbound import (
    BadEvent,
    InboundRequest,
    ProviderEvent,
    Refused,
    Secrets,
    Verified,
)

OLDEST = timedelta(hours=9)  # it tries for eight
AHEAD = timedelta(minutes=5)
TYPE_BY_EVENT: Mapping[str, str] = {
    "accepted": Happened.SENT,
    "stored": Happened.SENT,
    "delivered": Happened.DELIVERED,
    "rejected": Happened.FAILED,
    "opened": Happened.OPENED,
    "clicked": Happened.CLICKED,
    "complained": Happened.COMPLAINT,
    "unsubscribed": Happened.UNSUBSCRIBED,
}
BECAUSE_BY_REASON: Mapping[str, str] = {
    "suppress-bounce": Because.HARD_BOUNCE,
    "suppress-complaint": Because.COMPLAINT,
    "suppress-unsubscribe": Because.UNSUBSCRIBED,
}
BECAUSE_BY_CODE: Mapping[int, str] = {
    605: Because.HARD_BOUNCE,
    606: Because.UNSUBSCRIBED,
    607: Because.COMPLAINT,
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
    """Verifies and reads the events of Mailgun."""

    name = "mailgun"
    most_bytes = 1024 * 1024

    async def verify(
        self, request: InboundRequest, secrets: Secrets, now: datetime
    ) -> Verified | Refused:
        """Check the HMAC with the signing keys of the account, and the age."""
        signature = part(loaded(request.body), "signature")
        timestamp = part(signature, "timestamp")
        token, given = part(signature, "token"), part(signature, "signature")
        if isinstance(timestamp, int) and not isinstance(timestamp, bool):
            timestamp = str(timestamp)
        if not (isinstance(timestamp, str) and isinstance(token, str) and isinstance(given, str)):
            return Refused("it is not signed")
        seconds = seconds_of(timestamp)
        if seconds is None or not 10 <= len(token) <= 200 or not token.isascii():
            return Refused("it is not signed")
        if not is_fresh(seconds, now, past=OLDEST, ahead=AHEAD):
            return Refused("it is too old, or of the future")
        signed = (timestamp + token).encode()
        right = [
            hmac.digest(key.encode(), signed, "sha256").hex() for key in secrets.signing if key
        ]
        if not is_one_of(given, right):
            return Refused("its signature is wrong")
        return Verified(token)

    def events(self, request: InboundRequest) -> Sequence[ProviderEvent | BadEvent]:
        """Return the event of a request."""
        said = part(loaded(request.body), "event-data")
        if not isinstance(said, Mapping):
            return [BadEvent("it has no event-data")]
        kind = text(said.get("event"), 100)
        if kind is None:
            return [BadEvent("event-data without event")]
        what, suppress = _meaning(kind, said)
        if part(said, "flags", "is-test-mode") is True:
            what, suppress = None, None
        at = instant(said.get("timestamp"))
        return [
            ProviderEvent(
                type=what,
                kind=kind,
                event_id=_event_id(said, at, request.body),
                email_id=mail_id(part(said, "user-variables", ID_NAME)),
                provider_message_id=_bracketed(part(said, "message", "headers", "message-id")),
                message_id=_bracketed(part(said, "message", "headers", "message-id")),
                recipient=_recipient(said),
                occurred_at=at,
                code=_code(said),
                detail=_detail(said),
                suppress=suppress,
                data=_data(said),
            )
        ]


def _event_id(said: Json, at: datetime | None, body: bytes) -> str:
    given = text(said.get("id"), 200)
    if given is None:
        return digest_of(body)
    return f"{at:%Y-%m-%d}:{given}" if at else given  # unique within a day, says the provider


def _recipient(said: Json) -> str | None:
    """Mail that was rejected names its recipient in its head alone."""
    return address(said.get("recipient")) or address(part(said, "message", "headers", "to"))


def _bracketed(value: Any) -> str | None:
    """Events leave out the brackets that the answer to the sender has."""
    found = text(value)
    return None if found is None else f"<{found.strip('<>')}>"


def _meaning(kind: str, said: Json) -> tuple[str | None, str | None]:
    if kind != "failed":
        return TYPE_BY_EVENT.get(kind), None
    reason = (text(said.get("reason"), 100) or "").lower()
    number = _number(part(said, "delivery-status", "code"))
    because = BECAUSE_BY_REASON.get(reason) or BECAUSE_BY_CODE.get(number)
    if text(said.get("severity")) == "temporary":
        return Happened.DEFERRED, None
    if because or reason.startswith("suppress-") or number >= 600:
        return Happened.FAILED, because
    return (Happened.HARD_BOUNCE if _is_dead(said, number) else Happened.SOFT_BOUNCE), None


def _is_dead(said: Json, number: int) -> bool:
    """Return whether it is the mailbox that was refused for good."""
    if not 500 <= number <= 599:
        return False
    code, detail = _code(said), _detail(said) or ""
    if code and not _VAGUE.fullmatch(code):
        return bool(_DEAD.fullmatch(code))
    reason = (text(said.get("reason"), 100) or "").lower()
    if number not in _MAILBOX_CODES or not reason.endswith("bounce"):
        return False
    return bool(_NO_MAILBOX.search(detail)) and not _POLICY.search(detail)


def _code(said: Json) -> str | None:
    status = part(said, "delivery-status")
    given = text(part(status, "enhanced-code"), 20)
    if given:
        return given
    found = _ENHANCED.search(text(part(status, "message")) or "")
    return found[1] if found else None


def _detail(said: Json) -> str | None:
    status = part(said, "delivery-status")
    message, more = text(part(status, "message")), text(part(status, "description"))
    told = text(part(said, "reject", "reason")) or text(said.get("reason"))
    return message or more or told


def _number(value: Any) -> int:
    found = text(value, 4)
    return int(found) if found and found.isascii() and found.isdigit() else 0


def _data(said: Json) -> Json:
    return known(
        severity=text(said.get("severity"), 50),
        reason=text(said.get("reason"), 100),
        url=text(said.get("url"), MAX_URL_CHARACTERS),
        ip=network(said.get("ip")),
        user_agent=text(part(said, "client-info", "user-agent"), 300),
        is_delayed=True if part(said, "flags", "is-delayed-bounce") is True else None,
    )
