"""Request bodies and queries of webhooks and their deliveries."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, model_validator

from mailqueue.api.emails.schema import Instant
from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import StrictRequestModel
from mailqueue.webhooks.formats.model import FormatName
from mailqueue.webhooks.model import DeliveryStatus, EventType

LongText = Annotated[str, Field(max_length=2000)]
Types = Annotated[list[EventType], Field(max_length=50, strict=False)]
Ended = Literal["delivered", "failed", "cancelled"]
OneType = Annotated[EventType, Field(strict=False)]


def _not_delivered() -> list[Ended]:
    return ["failed", "cancelled"]


class CreateWebhook(StrictRequestModel):
    """A webhook to register."""

    url: LongText
    """URL that receives events: HTTPS, with a public host."""
    event_types: Types = Field(default_factory=list)
    """Types of events to send; all if omitted or empty."""
    description: LongText | None = None
    """Description."""
    format: Annotated[FormatName, Field(strict=False)] = FormatName.MAILQUEUE
    """Format of the requests; it cannot be changed later."""
    secret: Annotated[str, Field(max_length=400)] | None = None
    """Signing secret, generated if omitted: in formats `mailqueue` and `resend`, `whsec_` and the
    base64 of 24 to 64 random bytes; in `mailgun` 16 to 200 characters; in `postmark` a user name,
    a colon and a password; in `sendgrid` none can be given.
    """
    is_enabled: bool = True
    """Whether events are delivered."""


class ChangeWebhook(StrictRequestModel):
    """Fields of a webhook to change; omitted fields are unchanged."""

    url: LongText | None = None
    """New URL, also for waiting deliveries."""
    event_types: Types | None = None
    """Types of events to send; an empty list is all."""
    description: LongText | None = None
    """Description; null removes it."""
    secret: Annotated[str, Field(max_length=200)] | None = None
    """New signing secret; the old one also signs for 24 hours."""
    is_enabled: bool | None = None
    """Whether events are delivered; while false, deliveries wait."""

    @model_validator(mode="after")
    def _has_some(self) -> "ChangeWebhook":
        if not self.model_fields_set:
            raise ValueError("give at least one field")
        for name in ("url", "event_types", "secret", "is_enabled"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise ValueError(f"{name} cannot be null")
        return self


class SecretRotation(StrictRequestModel):
    """Options of replacing a secret."""

    overlap_hours: Annotated[float, Field(ge=0, le=720, strict=False)] = 24
    """Hours for which both secrets sign; 0 removes the old one at once, as formats with room for
    one signature always do (`postmark`, `sendgrid`, `mailgun`).
    """
    secret: Annotated[str, Field(max_length=200)] | None = None
    """New secret, in the format of registration; generated if omitted."""


class TestAsked(StrictRequestModel):
    """The event of a test."""

    __test__ = False  # not a test class

    type: OneType | Literal["webhook.test"] | None = None
    """Type of the test event; `webhook.test` if omitted."""


class LogQuery(PageQuery):
    """Filters of deliveries."""

    status: DeliveryStatus | None = None
    """Filter by status."""
    type: EventType | Literal["webhook.test"] | None = None
    """Filter by event type."""
    since: Instant | None = None
    """Filter by creation at or after this time."""
    until: Instant | None = None
    """Filter by creation before this time."""
    email_id: UUID | None = None
    """Filter by email id."""


class RangeRetry(StrictRequestModel):
    """Deliveries to retry."""

    since: Instant | None = None
    """Filter by creation at or after this time."""
    until: Instant | None = None
    """Filter by creation before this time."""
    statuses: Annotated[list[Ended], Field(min_length=1, max_length=3)] = Field(
        default_factory=_not_delivered
    )
    """Filter by status; `failed` and `cancelled` if omitted."""
    types: Types = Field(default_factory=list)
    """Filter by event types; all if omitted."""
    limit: Annotated[int, Field(ge=1, le=10_000)] = 10_000
    """Maximum number of deliveries, oldest first."""
    dry_run: bool = False
    """Whether to count the deliveries only, and change nothing."""
