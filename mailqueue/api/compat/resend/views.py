"""Mail in the form of Resend's API: content, recipients, last event."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mailqueue.api.compat import store as compat_store
from mailqueue.api.compat.content import content_of
from mailqueue.api.compat.mailboxes import format_mailbox, split_mailboxes
from mailqueue.api.compat.store import NamedEmail, OneRecipient
from mailqueue.api.http.context import RequestContext
from mailqueue.mail.reads import emails
from mailqueue.webhooks.formats.resend import TAGS

# Resend's name for each type of event; types that are missing do not change the last event.
EVENTS = {
    "delivered": "delivered",
    "hard_bounce": "bounced",
    "soft_bounce": "delivery_delayed",
    "deferred": "delivery_delayed",
    "complaint": "complained",
    "opened": "opened",
    "clicked": "clicked",
    "failed": "failed",
}
_STATES = {
    "sent": "sent",
    "failed": "failed",
    "expired": "failed",
    "suppressed": "suppressed",
    "cancelled": "canceled",
}


def last_event(status: str, event: str | None, *, run_at: datetime | None, now: datetime) -> str:
    """Return the last event of a mail, in Resend's words. Pure."""
    heard = EVENTS.get(event or "")
    if status in ("sent", "failed") and heard is not None:
        return heard
    if status in _STATES:
        return _STATES[status]
    return "scheduled" if run_at is not None and run_at > now else "queued"


def listed(
    emails: Sequence[NamedEmail], recipients: Iterable[OneRecipient], now: datetime
) -> list[dict[str, Any]]:
    """Return mails in the form of a list. Pure."""
    by_email: dict[UUID, list[OneRecipient]] = {}
    for one in recipients:
        by_email.setdefault(one.email_id, []).append(one)
    return [_listed(each, by_email.get(each.id, []), now) for each in emails]


def _listed(one: NamedEmail, recipients: Sequence[OneRecipient], now: datetime) -> dict[str, Any]:
    boxes = [(each.kind, each.name, each.address) for each in recipients]
    return {
        "id": one.id,
        "from": format_mailbox(one.from_name, one.from_email)
        if one.from_email is not None
        else None,
        **mailboxes_by_kind(boxes or [("to", one.recipient_name, one.recipient_email)]),
        "reply_to": None if one.reply_to is None else split_mailboxes(one.reply_to),
        "subject": one.subject,
        "created_at": stamp(one.created_at),
        "scheduled_at": _scheduled(one.status, one.run_at, now),
        "last_event": last_event(one.status, one.last_event, run_at=one.run_at, now=now),
    }


def mailboxes_by_kind(boxes: Iterable[tuple[str, str | None, str]]) -> dict[str, list[str]]:
    """Return mailboxes by the kind of their recipient. Pure."""
    shown: dict[str, list[str]] = {"to": [], "cc": [], "bcc": []}
    for kind, name, address in boxes:
        shown[kind].append(format_mailbox(name, address))
    return shown


def stamp(at: datetime) -> str:
    """Return a time in Resend's format. Pure."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _scheduled(status: str, run_at: datetime | None, now: datetime) -> str | None:
    is_waiting = status == "pending" and run_at is not None and run_at > now
    return stamp(run_at) if is_waiting and run_at is not None else None


async def email_of(call: RequestContext, email_id: UUID) -> dict[str, Any]:
    """Return one mail with its content.

    Raises:
        NotFound: the project has no such mail.
    """
    async with call.connection() as conn:
        email = await emails.find(conn, email_id, project_id=call.caller.project_id)
        recipients = await compat_store.list_recipients(
            conn, [email_id], project_id=call.caller.project_id
        )
    now = datetime.now(UTC)
    said = await content_of(call, email_id)
    event = email.events[-1].type if email.events else None
    custom = email.custom_data if isinstance(email.custom_data, dict) else {}
    boxes = [(each.kind, each.name, each.address) for each in recipients]
    return {
        "object": "email",
        "id": email.id,
        "message_id": email.message_id,
        "from": said.sender,
        **mailboxes_by_kind(boxes or [("to", email.recipient_name, email.recipient_email)]),
        "reply_to": split_mailboxes(email.reply_to or ""),
        "subject": said.subject,
        "html": said.html,
        "text": said.text,
        "created_at": stamp(email.created_at),
        "scheduled_at": _scheduled(email.status, email.run_at, now),
        "last_event": last_event(email.status, event, run_at=email.run_at, now=now),
        "tags": custom.get(TAGS, []),
    }
