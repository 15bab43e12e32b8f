"""What callers are told of mail, and the texts and numbers they may give. Values only."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, JsonValue

from mailqueue.core.storable_text import MAX_LEVELS, TOO_DEEP

LARGEST_INTEGER = 2**63 - 1


def _storable(value: JsonValue, level: int = 0) -> JsonValue:
    """Refuse what PostgreSQL or JSON itself cannot hold."""
    if level > MAX_LEVELS:
        raise ValueError(TOO_DEEP)
    match value:
        case str() if "\0" in value:
            raise ValueError("the character NUL is not allowed")
        case bool():
            pass
        case int() if abs(value) > LARGEST_INTEGER:
            raise ValueError("a whole number has 64 bits at most")
        case float() if not math.isfinite(value):
            raise ValueError("a number must be finite")
        case list():
            for each in value:
                _storable(each, level + 1)
        case dict():
            for name, each in value.items():
                _storable(name)
                _storable(each, level + 1)
    return value


def _text(value: str) -> str:
    _storable(value)
    return value


def _whole(value: int) -> int:
    _storable(value)
    return value


def _object(value: dict[str, Any]) -> dict[str, Any]:
    _storable(value)
    return value


Text = Annotated[str, AfterValidator(_text)]
Whole = Annotated[int, AfterValidator(_whole)]
JsonObject = Annotated[dict[str, JsonValue], AfterValidator(_object)]


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of a request to send: queued, or suppressed with the reason."""

    id: UUID
    status: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Repeated(Sent):
    """The same, of mail that an earlier request under the idempotency key brought."""


@dataclass(frozen=True, slots=True)
class Email:
    """One mail as the API shows it."""

    id: UUID
    status: str
    why: str
    reason: str | None
    priority: str
    category: str
    from_email: str | None
    from_name: str | None
    reply_to: str | None
    recipient_email: str
    recipient_name: str | None
    subject: str | None
    campaign_id: str | None
    tags: list[str] | None
    custom_data: Any
    sender: str | None
    attempts: int
    max_attempts: int
    delivery: str
    message_id: str | None
    provider_message_id: str | None
    created_at: datetime
    run_at: datetime | None
    expires_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Recipient:
    """One recipient of a mail and what became of it."""

    kind: str
    address: str
    name: str | None
    status: str
    reason: str | None
    reply_code: str | None
    settled_at: datetime | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to hand a mail over, with the server's reply."""

    attempt: int
    sent_at: datetime
    status: str
    recipient_email: str
    sender: str | None
    code: str | None
    enhanced_code: str | None
    reply: str | None
    response_ms: int | None


@dataclass(frozen=True, slots=True)
class Event:
    """Something else that happened to a mail; `source` is who says so, null where we do."""

    id: UUID
    occurred_at: datetime
    type: str
    recipient_email: str | None
    source: str | None
    code: str | None
    detail: str | None
    data: Any


@dataclass(frozen=True, slots=True)
class EmailDetail:
    """A mail with its recipients, attempts and events."""

    email: Email
    recipients: list[Recipient]
    attempts: list[Attempt]
    events: list[Event]


@dataclass(frozen=True, slots=True)
class Moment:
    """What happened to a mail: `what` is a state, an event, or attempt_ with its status."""

    at: datetime
    what: str
    recipient: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class ShownEmail:
    """A mail and what became of it; `timeline` has all that happened, in order."""

    id: UUID
    status: str
    why: str
    reason: str | None
    priority: str
    category: str
    from_email: str | None
    from_name: str | None
    reply_to: str | None
    recipient_email: str
    recipient_name: str | None
    subject: str | None
    campaign_id: str | None
    tags: list[str] | None
    custom_data: Any
    sender: str | None
    attempts: list[Attempt]
    max_attempts: int
    delivery: str
    message_id: str | None
    provider_message_id: str | None
    created_at: datetime
    run_at: datetime | None
    expires_at: datetime
    finished_at: datetime | None
    attempt_count: int
    recipients: list[Recipient]
    events: list[Event]
    scheduled_at: datetime | None
    timeline: list[Moment]
