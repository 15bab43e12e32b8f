"""What callers send and what they are told. Values only; mail's own rules are checked in SQL."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

LARGEST_INTEGER = 2**63 - 1


def _storable(value: JsonValue) -> JsonValue:
    """Refuse what PostgreSQL or JSON itself cannot hold."""
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
                _storable(each)
        case dict():
            for name, each in value.items():
                _storable(name)
                _storable(each)
    return value


def _none_yet(value: list[JsonValue]) -> list[JsonValue]:
    if value:
        raise ValueError("attachments cannot be sent yet: leave the list empty")
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


class SendRequest(BaseModel):
    """The body of POST /v1/send."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    to: list[Text] = Field(min_length=1)
    cc: list[Text] = Field(default_factory=list)
    bcc: list[Text] = Field(default_factory=list)
    subject: Text
    html_body: Text | None = None
    text_body: Text | None = None
    from_email: Text | None = None
    from_name: Text | None = None
    reply_to: Text | None = None
    priority: Text | Whole | None = None
    tags: list[Text] = Field(default_factory=list)
    headers: dict[Text, Text] = Field(default_factory=dict)
    attachments: Annotated[list[JsonValue], AfterValidator(_none_yet)] = []
    campaign_id: Text | None = None
    run_at: AwareDatetime | None = None
    expires_at: AwareDatetime | None = None
    idempotency_key: Text | None = None
    category: Text | None = None
    delivery: Text | None = None
    sender: Text | None = None
    custom_data: JsonObject | None = None
    max_attempts: Whole | None = None

    def options(self) -> dict[str, Any]:
        """Give what stands in the options of `mailqueue.enqueue`."""
        given: dict[str, Any] = {
            name: getattr(self, name) for name in _OPTIONS if getattr(self, name) not in (None, [])
        }
        if len(self.to) > 1:
            given["to"] = self.to[1:]
        if self.headers:
            given["headers"] = self.headers
        return given


_OPTIONS = (
    "cc",
    "bcc",
    "from_email",
    "from_name",
    "reply_to",
    "priority",
    "tags",
    "campaign_id",
    "run_at",
    "expires_at",
    "idempotency_key",
    "category",
    "delivery",
    "sender",
    "custom_data",
    "max_attempts",
)


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of a request to send: queued, or suppressed with the reason."""

    id: UUID
    status: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Email:
    """One mail as the API shows it."""

    id: UUID
    status: str
    why: str
    reason: str | None
    priority: int
    category: str
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
    """Something else that happened to a mail."""

    occurred_at: datetime
    type: str
    recipient_email: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class EmailDetail:
    """A mail with its recipients, attempts and events."""

    email: Email
    recipients: list[Recipient]
    attempts: list[Attempt]
    events: list[Event]


@dataclass(frozen=True, slots=True)
class ShownEmail:
    """What `GET /v1/emails/{id}` answers."""

    id: UUID
    status: str
    why: str
    reason: str | None
    priority: int
    category: str
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
