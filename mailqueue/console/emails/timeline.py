"""One timeline of an email: accepted, every attempt with the server's reply, and events. Pure."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from mailqueue.contract.emails import Attempt, Email, Event
from mailqueue.mail.reads.emails import detail_of, order_of

BAD = frozenset(
    {"failed", "bounced", "hard_bounce", "complaint", "expired", "rejected", "cancelled"}
)
POOR = frozenset({"deferred", "soft_bounce", "held", "suppressed", "unknown", "unsubscribed"})
_DEVICES = {
    ("iOS", "phone"): "iPhone",
    ("iOS", "tablet"): "iPad",
    ("Android", "phone"): "Android phone",
    ("Android", "tablet"): "Android tablet",
}
GOOD = frozenset({"sent", "delivered", "opened", "clicked", "resubscribed", "resolved"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the timeline."""

    at: datetime
    what: str
    tone: str
    """`good`, `poor`, `bad` or empty."""
    recipient: str | None = None
    detail: str | None = None
    code: str | None = None
    source: str | None = None
    attempt: Attempt | None = None
    program: str | None = None
    """With what an email was opened or a link followed."""
    agent: str | None = None
    """The user agent of that program."""
    order: datetime | None = None
    """The time at which it stands in the timeline, if that is not its own."""


def timeline(email: Email) -> list[Entry]:
    """Return what happened to an email, oldest first."""
    entries = [Entry(email.created_at, "accepted", "")]
    for attempt in email.attempts:
        entries.append(
            Entry(
                attempt.sent_at,
                f"attempt {attempt.attempt}: {attempt.status}",
                tone_of(attempt.status),
                recipient=attempt.recipient_email,
                detail=attempt.reply,
                code=attempt.enhanced_code or attempt.code,
                attempt=attempt,
            )
        )
    replies = {attempt.reply for attempt in email.attempts}
    entries += (
        Entry(
            event.occurred_at,
            event.type,
            tone_of(event.type),
            recipient=event.recipient_email,
            detail=_detail_of(event, replies),
            code=event.code,
            source=event.source,
            program=program_of(event.data),
            agent=_agent_of(event.data),
            order=order_of(event, email.attempts),
        )
        for event in email.events
    )
    is_told = any(entry.what == email.status for entry in entries)
    if email.finished_at is not None and not is_told:
        entries.append(
            Entry(email.finished_at, email.status, tone_of(email.status), detail=email.reason)
        )
    return sorted(entries, key=lambda entry: entry.order or entry.at)


def _detail_of(event: Event, replies: Collection[str | None]) -> str | None:
    """Return the detail of an event, unless it is the reply that an attempt shows."""
    detail = detail_of(event)
    return None if event.source is None and detail in replies else detail


def program_of(data: object) -> str | None:
    """Return the program of an open or a click in words, such as `Apple Mail on iPhone`.

    Client, system and device stand in the event; the user agent itself where they are unknown.
    """
    if not isinstance(data, dict):
        return None
    client, system, device = (_text(data.get(name)) for name in ("client", "system", "device"))
    on = _DEVICES.get((system, device), system)
    known = [each for each in (client, on) if each not in ("", "other")]
    return " on ".join(known) or _agent_of(data)


def _agent_of(data: object) -> str | None:
    return (_text(data.get("user_agent")) or None) if isinstance(data, dict) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def tone_of(status: str) -> str:
    """Return how good news a state or event is: `good`, `poor`, `bad` or empty."""
    for tone, names in (("good", GOOD), ("poor", POOR), ("bad", BAD)):
        if status in names:
            return tone
    return ""
