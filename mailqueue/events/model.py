"""Values: events of mail, as reported and as stored."""

from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from mailqueue.ports.inbound import JsonObject


class Type(StrEnum):
    """Types of events of a sent mail."""

    SENT = "sent"  # accepted by the provider
    DELIVERED = "delivered"
    DEFERRED = "deferred"
    HARD_BOUNCE = "hard_bounce"  # the address does not exist
    SOFT_BOUNCE = "soft_bounce"  # final, but not because of the address, or temporary
    COMPLAINT = "complaint"
    OPENED = "opened"
    CLICKED = "clicked"
    UNSUBSCRIBED = "unsubscribed"
    RESUBSCRIBED = "resubscribed"
    FAILED = "failed"  # the provider refused to send it


class Suppress(StrEnum):
    """Reasons for which a provider suppresses an address."""

    HARD_BOUNCE = "hard_bounce"
    SOFT_BOUNCE_THRESHOLD = "soft_bounce_threshold"
    COMPLAINT = "complaint"
    UNSUBSCRIBED = "unsubscribed"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class ReportedEvent:
    """An event as a source reports it, with what identifies its mail.

    One of `email_id`, `provider_message_id` and `message_id` is required. `account` is the sender
    account of the mail. Of several events with the same source and `event_id` the first is
    recorded; `event_id` is None where a report cannot come twice. Without `occurred_at` the time is
    now.
    """

    source: str  # ses, sendgrid, dsn, tracking, …
    type: Type
    account: int | None = None
    event_id: str | None = None
    email_id: UUID | None = None
    provider_message_id: str | None = None
    message_id: str | None = None
    recipient: str | None = None
    occurred_at: datetime | None = None
    code: str | None = None
    detail: str | None = None
    suppress: Suppress | None = None
    data: JsonObject = field(default_factory=dict)


class RecordResult(StrEnum):
    """Result of recording an event."""

    RECORDED = "recorded"
    REPEATED = "repeated"  # recorded before
    UNMATCHED = "unmatched"  # its mail is unknown yet: store it and retry
    IGNORED = "ignored"  # of an unknown type


@dataclass(frozen=True, slots=True)
class EventQuery:
    """Filters of a list of events; an event is listed if all given filters match."""

    email_id: UUID | None = None
    project: str | None = None
    type: str | None = None
    id: UUID | None = None
    before: UUID | None = None
    limit: int = 50

    def params(self) -> dict[str, Any]:
        """Return the filters as SQL parameters."""
        return asdict(self)
