"""Postmark's API: accepted messages."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from starlette.responses import Response

from mailqueue.api.compat import store as compat_store
from mailqueue.api.compat.content import content_of
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.responses import json_answer
from mailqueue.contract.emails import Email, Event
from mailqueue.core.errors import Conflict, Unavailable
from mailqueue.mail.message.preview import MessageSources, build_preview, find_email
from mailqueue.mail.reads import emails
from mailqueue.projects.model import Scope
from mailqueue.webhooks.formats.postmark import METADATA, STREAMS

_EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "delivered": "Delivered",
        "hard_bounce": "Bounced",
        "complaint": "Bounced",
        "soft_bounce": "Transient",
        "deferred": "Transient",
        "opened": "Opened",
        "clicked": "LinkClicked",
        "unsubscribed": "SubscriptionChanged",
    }
)


async def details(call: RequestContext) -> Response:
    """Return a message and its events."""
    email_id = call.id("message_id")
    async with call.connection() as conn:
        email = await emails.find(conn, email_id, project_id=call.caller.project_id)
        recipients = await compat_store.list_recipients(
            conn, [email_id], project_id=call.caller.project_id
        )
    said = await content_of(call, email_id)
    boxes = [(one.kind, one.address, one.name) for one in recipients]
    boxes = boxes or [("to", email.recipient_email, email.recipient_name)]
    return json_answer(
        {
            "MessageID": email.id,
            "MessageStream": STREAMS.get(email.category, email.category),
            **mailboxes_by_kind(boxes),
            "Recipients": [address for _, address, _ in boxes],
            "From": said.sender,
            "Subject": said.subject,
            "TextBody": said.text,
            "HtmlBody": said.html,
            "Body": await _source(call),
            "Tag": email.tags[0] if email.tags else "",
            "Metadata": metadata_of(email.custom_data),
            "Attachments": [one["name"] for one in said.files],
            "ReceivedAt": email.created_at,
            "Status": status_of(email.status, is_finished=email.finished_at is not None),
            "Sandboxed": call.caller.is_test,
            "MessageEvents": [_event(email, one) for one in email.events if one.type in _EVENTS],
        }
    )


async def dump(call: RequestContext) -> Response:
    """Return the raw message, without DKIM signatures."""
    return json_answer({"Body": await _source(call)})


async def _source(call: RequestContext) -> str:
    email_id = call.id("message_id")
    shown = await find_email(call.connection, project_id=call.caller.project_id, email_id=email_id)
    library = MessageSources(call.services.storage, call.services.template_cache)
    try:
        letter = await build_preview(call.connection, library, shown)
    except (ValueError, Conflict, Unavailable):
        return ""  # deleted, or not available now
    return letter.message.decode("utf-8", "replace")


def mailboxes_by_kind(
    boxes: Sequence[tuple[str, str, str | None]],
) -> dict[str, list[dict[str, Any]]]:
    """Return the recipients of each kind. Pure."""
    return {
        kind: [{"Email": at, "Name": name} for each, at, name in boxes if each == kind.lower()]
        for kind in ("To", "Cc", "Bcc")
    }


def metadata_of(custom_data: object) -> Any:
    """Return the metadata that a message was sent with. Pure."""
    return custom_data.get(METADATA, {}) if isinstance(custom_data, dict) else {}


def status_of(status: str, *, is_finished: bool) -> str:
    """Return Postmark's word for the state of a mail. Pure."""
    if status == "sent":
        return "Sent"
    return "Processed" if is_finished else "Queued"


def _event(email: Email, event: Event) -> dict[str, Any]:
    kind = _EVENTS[event.type]
    names = {"Delivered": "DeliveryMessage", "Transient": "DeliveryMessage", "Bounced": "Summary"}
    name = names.get(kind, "Summary")
    return {
        "Recipient": event.recipient_email or email.recipient_email,
        "Type": kind,
        "ReceivedAt": event.occurred_at,
        "Details": {name: event.detail or ""},
    }


MESSAGE_ENDPOINTS = (
    Endpoint(
        "GET",
        "/messages/outbound/{message_id}/details",
        Scope.EMAIL_READ,
        "Show a message.",
        details,
        test_keys=ForTestKeys.OWN,
    ),
    Endpoint(
        "GET",
        "/messages/outbound/{message_id}/dump",
        Scope.EMAIL_READ,
        "Show the raw message.",
        dump,
        test_keys=ForTestKeys.OWN,
    ),
)
