"""Format `mailgun`: the events of Mailgun, with a signature of timestamp and token. Pure.

Follows documentation.mailgun.com/docs/mailgun/user-manual/events/webhooks and event-structure.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Any

from mailqueue.core.errors import InvalidField
from mailqueue.core.json.writing import write_json
from mailqueue.core.secret import Secret
from mailqueue.webhooks.formats.model import (
    JSON_TYPE,
    FormatName,
    FormattedEvent,
    SignedRequest,
    UnsignedRequest,
    WebhookFormat,
)
from mailqueue.webhooks.formats.values import (
    is_of_bounced,
    message_id_of,
    metadata_of,
    reason_of,
    reply_code_of,
    sender_of,
    status_of,
    subject_of,
)
from mailqueue.webhooks.model import EventType

USER_VARIABLES = "user_variables"
"""Key of an email's custom_data that holds the variables of Mailgun's API."""
TYPES: Mapping[EventType, str] = {
    EventType.QUEUED: "accepted",
    EventType.DELIVERED: "delivered",
    EventType.DEFERRED: "failed",
    EventType.SOFT_BOUNCE: "failed",
    EventType.HARD_BOUNCE: "failed",
    EventType.COMPLAINT: "complained",
    EventType.OPENED: "opened",
    EventType.CLICKED: "clicked",
    EventType.UNSUBSCRIBED: "unsubscribed",
    EventType.FAILED: "failed",
    EventType.EXPIRED: "failed",
    EventType.SUPPRESSED: "failed",
}
_LEVELS: Mapping[EventType, str] = {EventType.DEFERRED: "warn", EventType.COMPLAINT: "warn"}
# Reason and code of mail that was not sent, as Mailgun has them.
_SUPPRESSED = (
    ("unsubscribed", "suppress-unsubscribe", 606),
    ("complaint", "suppress-complaint", 607),
)
_BOUNCED = ("suppress-bounce", 605)
_OLD, _FAILED = 602, 600
_TOKEN_CHARACTERS = 50
_KEY = re.compile(r"[\x21-\x7e]{16,200}")


def _write(event: FormattedEvent) -> bytes | None:
    found = event_data_of(event)
    return None if found is None else write_json(found)


def event_data_of(event: FormattedEvent) -> dict[str, Any] | None:
    """Return an event as Mailgun has it; None if another event says the same."""
    if is_of_bounced(event):
        return None
    domain = sender_of(event).rpartition("@")[2]
    headers = {
        "to": event.data.get("recipient"),
        "message-id": (message_id_of(event, is_first=True) or "").strip("<>"),
        "from": sender_of(event),
        "subject": subject_of(event),
    }
    return {
        "id": str(event.id),
        "event": TYPES[event.type],
        "timestamp": round(event.at.timestamp(), 3),
        "log-level": _level(event.type),
        "recipient": event.data.get("recipient"),
        "recipient-domain": str(event.data.get("recipient") or "").rpartition("@")[2],
        "tags": event.data.get("tags") or [],
        "campaigns": [],
        "user-variables": metadata_of(event, USER_VARIABLES),
        "message": {"headers": headers},
        "domain": {"name": domain},
        "flags": {"is-test-mode": False, "is-routed": False},
        **_more(event),
    }


def _level(kind: EventType) -> str:
    return _LEVELS.get(kind, "error" if TYPES[kind] == "failed" else "info")


def _more(event: FormattedEvent) -> dict[str, Any]:
    said = reason_of(event)
    code = reply_code_of(event)
    match event.type:
        case EventType.DELIVERED:
            return {"delivery-status": _status(event, 250 if code is None else code, said)}
        case EventType.DEFERRED:
            return _failed(event, "temporary", "generic", code or 450)
        case EventType.HARD_BOUNCE:
            return _failed(event, "permanent", "bounce", code or 550)
        case EventType.SOFT_BOUNCE:
            return _failed(event, "permanent", "generic", code or 550)
        case EventType.FAILED:
            return _failed(event, "permanent", "generic", _FAILED)
        case EventType.EXPIRED:
            return _failed(event, "permanent", "old", _OLD)
        case EventType.SUPPRESSED:
            found = ((reason, number) for name, reason, number in _SUPPRESSED if name in said)
            return _failed(event, "permanent", *next(found, _BOUNCED))
        case EventType.OPENED:
            return _visit(event)
        case EventType.CLICKED:
            return {**_visit(event), "url": event.data.get("url")}
        case _:
            return {}


def _failed(event: FormattedEvent, severity: str, reason: str, code: int) -> dict[str, Any]:
    return {
        "severity": severity,
        "reason": reason,
        "delivery-status": _status(event, code, reason_of(event)),
    }


def _status(event: FormattedEvent, code: int, said: str) -> dict[str, Any]:
    return {
        "code": code,
        "enhanced-code": status_of(event),
        "message": said,
        "description": "",
    }


def _visit(event: FormattedEvent) -> dict[str, Any]:
    return {
        "ip": event.data.get("ip"),
        "client-info": {"user-agent": event.data.get("user_agent") or ""},
        "geolocation": {},
    }


def _sign(request: UnsignedRequest) -> SignedRequest:
    """Return the body with its signature; a repeated attempt has the same token."""
    token = hashlib.sha256(request.event_id.encode()).hexdigest()[:_TOKEN_CHARACTERS]
    signed = f"{request.at}{token}".encode()
    signature = {
        "token": token,
        "timestamp": str(request.at),
        "signature": hmac.digest(request.keys[0], signed, "sha256").hex(),
    }
    body = b'{"signature":' + write_json(signature) + b',"event-data":' + request.body + b"}"
    return SignedRequest((("Content-Type", JSON_TYPE),), body)


def _new_key() -> Secret:
    return Secret(secrets.token_hex(32))


def _key_of_caller(text: str) -> Secret:
    if not _KEY.fullmatch(text):
        raise InvalidField("secret", "must be 16 to 200 printable ASCII characters without spaces")
    return Secret(text)


MAILGUN_FORMAT = WebhookFormat(
    name=FormatName.MAILGUN,
    types=tuple(TYPES),
    write=_write,
    sign=_sign,
    make_secret=_new_key,
    read_secret=_key_of_caller,
    key_of=lambda secret: secret.reveal().encode(),
)
