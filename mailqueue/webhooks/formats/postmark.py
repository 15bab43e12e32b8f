"""Format `postmark`: the events of Postmark, with a user name and password. Pure.

Follows postmarkapp.com/developer/webhooks/webhooks-overview and
github.com/ActiveCampaign/postmark.js.
"""

import base64
import re
import secrets
from collections.abc import Callable, Mapping
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
    email_id_of,
    metadata_of,
    number_of,
    reason_of,
    sender_of,
    stamp,
    subject_of,
)
from mailqueue.webhooks.model import EventType

METADATA = "postmark_metadata"
"""Key of an email's custom_data that holds the metadata of Postmark's API."""
STREAMS: Mapping[str, str] = {"transactional": "outbound", "marketing": "broadcast"}
"""Message stream of each category that Postmark has."""
SERVER_ID = 1
_LOGIN = re.compile(r"[\x21-\x39\x3b-\x7e]{1,100}:[\x21-\x7e]{1,200}")
_USER = "mailqueue"
_NO_CLIENT = {"Name": "", "Company": "", "Family": ""}
BOUNCES: Mapping[EventType, tuple[str, int, str, str]] = {
    EventType.HARD_BOUNCE: (
        "HardBounce",
        1,
        "Hard bounce",
        "The server was unable to deliver your message (ex: unknown user, mailbox not found).",
    ),
    EventType.SOFT_BOUNCE: (
        "SoftBounce",
        4096,
        "Soft bounce",
        "Unable to temporarily deliver message (i.e. mailbox full, account disabled).",
    ),
    EventType.DEFERRED: (
        "Transient",
        2,
        "Message delayed",
        "The server could not temporarily deliver your message (ex: Message is delayed).",
    ),
    EventType.COMPLAINT: (
        "SpamComplaint",
        100001,
        "Spam complaint",
        "The subscriber explicitly marked this message as spam.",
    ),
}
"""Type, TypeCode, Name and Description, as in Postmark's list of bounce types."""


def _bounce(event: FormattedEvent) -> dict[str, Any]:
    kind, code, name, description = BOUNCES[event.type]
    is_inactive = event.type in (EventType.HARD_BOUNCE, EventType.COMPLAINT)
    return {
        "RecordType": "SpamComplaint" if event.type is EventType.COMPLAINT else "Bounce",
        "ID": number_of(event.id),
        "Type": kind,
        "TypeCode": code,
        "Name": name,
        "Description": description,
        "Details": reason_of(event),
        "Email": event.data.get("recipient"),
        "From": sender_of(event),
        "BouncedAt": stamp(event.at),
        "DumpAvailable": False,
        "Inactive": is_inactive,
        "CanActivate": event.type is EventType.HARD_BOUNCE,
        "Subject": subject_of(event),
    }


def _delivery(event: FormattedEvent) -> dict[str, Any]:
    return {
        "RecordType": "Delivery",
        "Recipient": event.data.get("recipient"),
        "DeliveredAt": stamp(event.at),
        "Details": reason_of(event),
    }


def _visit(event: FormattedEvent) -> dict[str, Any]:
    return {
        "Recipient": event.data.get("recipient"),
        "ReceivedAt": stamp(event.at),
        "UserAgent": event.data.get("user_agent") or "",
        "Client": _NO_CLIENT,
        "OS": _NO_CLIENT,
        "Platform": "Unknown",
        "Geo": {"IP": event.data["ip"]} if event.data.get("ip") else {},
    }


def visit_of(event: FormattedEvent) -> dict[str, Any]:
    """Return an open or a click."""
    if event.type is EventType.OPENED:
        return {"RecordType": "Open", **_visit(event)}
    link = event.data.get("url")
    return {
        "RecordType": "Click",
        **_visit(event),
        "ClickLocation": "HTML",
        "OriginalLink": link,
    }


def _subscription(event: FormattedEvent) -> dict[str, Any]:
    is_suppressed = event.type is EventType.UNSUBSCRIBED
    return {
        "RecordType": "SubscriptionChange",
        "Recipient": event.data.get("recipient"),
        "Origin": "Recipient",
        "SuppressSending": is_suppressed,
        "SuppressionReason": "ManualSuppression" if is_suppressed else None,
        "ChangedAt": stamp(event.at),
    }


_WRITERS: Mapping[EventType, Callable[[FormattedEvent], dict[str, Any]]] = {
    EventType.DELIVERED: _delivery,
    EventType.DEFERRED: _bounce,
    EventType.SOFT_BOUNCE: _bounce,
    EventType.HARD_BOUNCE: _bounce,
    EventType.COMPLAINT: _bounce,
    EventType.OPENED: visit_of,
    EventType.CLICKED: visit_of,
    EventType.UNSUBSCRIBED: _subscription,
    EventType.RESUBSCRIBED: _subscription,
}


def _write(event: FormattedEvent) -> bytes:
    tags = event.data.get("tags") or [""]
    category = str(event.data.get("category") or "transactional")
    shared = {
        "MessageID": email_id_of(event),
        "ServerID": SERVER_ID,
        "MessageStream": STREAMS.get(category, category),
        "Tag": tags[0],
        "Metadata": metadata_of(event, METADATA),
    }
    return write_json(_WRITERS[event.type](event) | shared)


def _sign(request: UnsignedRequest) -> SignedRequest:
    login = base64.b64encode(request.keys[0]).decode()
    headers = (("Content-Type", JSON_TYPE), ("Authorization", f"Basic {login}"))
    return SignedRequest(headers, request.body)


def _new_login() -> Secret:
    return Secret(f"{_USER}:{secrets.token_urlsafe(32)}")


def _login_of(text: str) -> Secret:
    if not _LOGIN.fullmatch(text):
        why = "must be a user name, a colon and a password, in ASCII without spaces"
        raise InvalidField("secret", why)
    return Secret(text)


POSTMARK_FORMAT = WebhookFormat(
    name=FormatName.POSTMARK,
    types=tuple(_WRITERS),
    write=_write,
    sign=_sign,
    make_secret=_new_login,
    read_secret=_login_of,
    key_of=lambda secret: secret.reveal().encode(),
    takes_login=True,
)
