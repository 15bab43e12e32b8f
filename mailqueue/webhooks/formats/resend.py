"""Format `resend`: the events of Resend, signed as Svix does. Pure.

Follows resend.com/docs/dashboard/webhooks/event-types and the types of its Python client 2.51.
"""

from collections.abc import Mapping
from typing import Any

from mailqueue.core.json.writing import write_json
from mailqueue.webhooks.formats.model import (
    JSON_TYPE,
    FormatName,
    FormattedEvent,
    SignedRequest,
    UnsignedRequest,
    WebhookFormat,
)
from mailqueue.webhooks.formats.values import (
    WHOLE_EMAIL,
    addresses_of,
    email_id_of,
    is_of_bounced,
    message_id_of,
    reason_of,
    sender_of,
    stamp,
    subject_of,
)
from mailqueue.webhooks.model import EventType
from mailqueue.webhooks.signing import key_of, new_secret, secret_of, signatures_of

TAGS = "resend_tags"
"""Key of an email's custom_data that holds the tags of Resend's API."""
TYPES: Mapping[EventType, str] = {
    EventType.SENT: "email.sent",
    EventType.DELIVERED: "email.delivered",
    EventType.DEFERRED: "email.delivery_delayed",
    EventType.SOFT_BOUNCE: "email.bounced",
    EventType.HARD_BOUNCE: "email.bounced",
    EventType.COMPLAINT: "email.complained",
    EventType.OPENED: "email.opened",
    EventType.CLICKED: "email.clicked",
    EventType.FAILED: "email.failed",
    EventType.EXPIRED: "email.failed",
    EventType.SUPPRESSED: "email.suppressed",
}
# Programs tell these sentences apart by their words.
_HARD = "The recipient's email provider sent a hard bounce message"
_SOFT = "The recipient's email provider sent a general bounce message"


def _write(event: FormattedEvent) -> bytes | None:
    if is_of_bounced(event):
        return None
    facts = event.facts
    to = addresses_of(event)
    if event.type not in WHOLE_EMAIL and event.data.get("recipient"):
        to = [str(event.data["recipient"])]
    data = {
        "created_at": stamp(event.at if facts is None else facts.created_at),
        "email_id": email_id_of(event),
        "message_id": message_id_of(event),
        "from": _mailbox(facts.from_name if facts else None, sender_of(event)),
        "to": to,
        "subject": subject_of(event),
        "headers": [
            {"name": name, "value": value}
            for name, value in ((facts.headers if facts else None) or {}).items()
        ],
        "tags": _tags(event),
        **_more(event),
    }
    return write_json({"type": TYPES[event.type], "created_at": stamp(event.at), "data": data})


def _more(event: FormattedEvent) -> dict[str, Any]:
    said = reason_of(event)
    match event.type:
        case EventType.HARD_BOUNCE:
            return {"bounce": _bounce("Permanent", _HARD, said)}
        case EventType.SOFT_BOUNCE:
            return {"bounce": _bounce("Transient", _SOFT, said)}
        case EventType.FAILED | EventType.EXPIRED:
            return {"failed": {"reason": said or str(event.type)}}
        case EventType.SUPPRESSED:
            return {"suppressed": {"message": said, "type": "OnAccountSuppressionList"}}
        case EventType.OPENED:
            return {"open": _visit(event)}
        case EventType.CLICKED:
            return {"click": _visit(event) | {"link": event.data.get("url")}}
        case _:
            return {}


def _bounce(kind: str, sentence: str, said: str) -> dict[str, Any]:
    return {
        "type": kind,
        "subType": "General",
        "message": f"{sentence}: {said}" if said else f"{sentence}.",
        "diagnosticCode": [said] if said else [],
    }


def _visit(event: FormattedEvent) -> dict[str, Any]:
    return {
        "ipAddress": event.data.get("ip"),
        "timestamp": stamp(event.at),
        "userAgent": event.data.get("user_agent"),
    }


def _tags(event: FormattedEvent) -> dict[str, str]:
    custom = event.data.get("custom_data")
    found = custom.get(TAGS) if isinstance(custom, Mapping) else None
    if not isinstance(found, list):
        return {}
    return {
        str(one.get("name")): str(one.get("value")) for one in found if isinstance(one, Mapping)
    }


def _mailbox(name: str | None, address: str) -> str:
    return f"{name} <{address}>" if name else address


def _sign(request: UnsignedRequest) -> SignedRequest:
    signatures = signatures_of(request.event_id, request.body, at=request.at, keys=request.keys)
    headers = (
        ("Content-Type", JSON_TYPE),
        ("Svix-Id", request.event_id),
        ("Svix-Timestamp", str(request.at)),
        ("Svix-Signature", signatures),
    )
    return SignedRequest(headers, request.body)


RESEND_FORMAT = WebhookFormat(
    name=FormatName.RESEND,
    types=tuple(TYPES),
    write=_write,
    sign=_sign,
    make_secret=new_secret,
    read_secret=secret_of,
    key_of=key_of,
    signs_twice=True,
)
