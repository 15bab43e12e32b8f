"""Format `sendgrid`: the events of SendGrid, a JSON array signed with a key pair (ECDSA). Pure.

Follows docs.sendgrid.com/for-developers/tracking-events/event and
getting-started-event-webhook-security-features.
"""

from collections.abc import Mapping
from typing import Any

from mailqueue.core.errors import InvalidField
from mailqueue.core.json.writing import write_json
from mailqueue.core.secret import Secret
from mailqueue.webhooks.formats.key_pair import (
    new_pair,
    private_key_of,
    public_key_of,
    signature_of,
)
from mailqueue.webhooks.formats.model import (
    JSON_TYPE,
    FormatName,
    FormattedEvent,
    SignedRequest,
    UnsignedRequest,
    WebhookFormat,
)
from mailqueue.webhooks.formats.values import (
    answered_id_of,
    is_of_bounced,
    message_id_of,
    metadata_of,
    reason_of,
    recipients_of,
    status_of,
)
from mailqueue.webhooks.model import EventType

CUSTOM_ARGS = "custom_args"
"""Key of an email's custom_data that holds the custom_args of SendGrid's API."""
GROUP = "asm-"
"""Beginning of the category that stands for an unsubscribe group."""
SIGNATURE = "X-Twilio-Email-Event-Webhook-Signature"
TIMESTAMP = "X-Twilio-Email-Event-Webhook-Timestamp"
TYPES: Mapping[EventType, str] = {
    EventType.QUEUED: "processed",
    EventType.DELIVERED: "delivered",
    EventType.DEFERRED: "deferred",
    EventType.SOFT_BOUNCE: "bounce",
    EventType.HARD_BOUNCE: "bounce",
    EventType.COMPLAINT: "spamreport",
    EventType.OPENED: "open",
    EventType.CLICKED: "click",
    EventType.UNSUBSCRIBED: "unsubscribe",
    EventType.RESUBSCRIBED: "group_resubscribe",
    EventType.FAILED: "dropped",
    EventType.EXPIRED: "dropped",
    EventType.SUPPRESSED: "dropped",
}
_DROPS = (
    ("unsubscribed", "Unsubscribed Address"),
    ("complaint", "Spam Reporting Address"),
    ("hard_bounce", "Bounced Address"),
    ("soft_bounce_threshold", "Bounced Address"),
)


def _write(event: FormattedEvent) -> bytes | None:
    if is_of_bounced(event):
        return None
    return write_json([_element(event, n, one) for n, one in enumerate(recipients_of(event))])


def _element(event: FormattedEvent, index: int, recipient: str) -> dict[str, Any]:
    category = str(event.data.get("category") or "")
    group = category.removeprefix(GROUP) if category.startswith(GROUP) else ""
    kind = TYPES[event.type]
    if group and event.type is EventType.UNSUBSCRIBED:
        kind = "group_unsubscribe"
    found = {
        "email": recipient,
        "timestamp": int(event.at.timestamp()),
        "smtp-id": message_id_of(event),
        "event": kind,
        "category": event.data.get("tags") or None,
        "sg_event_id": f"{event.id}-{index}" if index else str(event.id),
        "sg_message_id": f"{answered_id_of(event)}.mailqueue.{index}",
        "asm_group_id": int(group) if group.isascii() and group.isdigit() else None,
        **_more(event),
    }
    # SendGrid's own fields win over custom arguments of their names.
    own = {name: value for name, value in found.items() if value is not None}
    return metadata_of(event, CUSTOM_ARGS) | own


def _more(event: FormattedEvent) -> dict[str, Any]:
    said = reason_of(event)
    match event.type:
        case EventType.DELIVERED | EventType.DEFERRED:
            return {"response": said}
        case EventType.HARD_BOUNCE:
            return {"reason": said, "status": status_of(event), "type": "bounce"}
        case EventType.SOFT_BOUNCE:
            return {"reason": said, "status": status_of(event), "type": "blocked"}
        case EventType.SUPPRESSED:
            return {"reason": _dropped(said)}
        case EventType.EXPIRED:
            return {"reason": "Expired"}
        case EventType.FAILED:
            return {"reason": said or "Failed"}
        case EventType.OPENED:
            is_machine = event.data.get("is_machine") is True
            return {**_visit(event), "sg_machine_open": True if is_machine else None}
        case EventType.CLICKED:
            return {**_visit(event), "url": event.data.get("url")}
        case _:
            return {}


def _dropped(said: str) -> str:
    return next((words for name, words in _DROPS if name in said), "Blocked")


def _visit(event: FormattedEvent) -> dict[str, Any]:
    return {"useragent": event.data.get("user_agent"), "ip": event.data.get("ip")}


def _sign(request: UnsignedRequest) -> SignedRequest:
    signed = str(request.at).encode() + request.body
    headers = (
        ("Content-Type", JSON_TYPE),
        (SIGNATURE, signature_of(request.keys[0], signed)),
        (TIMESTAMP, str(request.at)),
    )
    return SignedRequest(headers, request.body)


def _refused(_text: str) -> Secret:
    raise InvalidField("secret", "cannot be chosen: format sendgrid makes a key pair")


SENDGRID_FORMAT = WebhookFormat(
    name=FormatName.SENDGRID,
    types=tuple(TYPES),
    write=_write,
    sign=_sign,
    make_secret=new_pair,
    read_secret=_refused,
    key_of=private_key_of,
    public_key_of=public_key_of,
)
