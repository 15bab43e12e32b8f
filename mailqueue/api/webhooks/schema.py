"""What is asked and answered about webhooks and their log."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, model_validator

from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import StrictlyGiven
from mailqueue.webhooks.model import DeliveryStatus, EventType

Word = Annotated[str, Field(max_length=2000)]
Types = Annotated[list[EventType], Field(max_length=50, strict=False)]
Ended = Literal["delivered", "failed", "cancelled"]
OneType = Annotated[EventType, Field(strict=False)]


def _not_delivered() -> list[Ended]:
    return ["failed", "cancelled"]


class NewHook(StrictlyGiven):
    """A webhook to register."""

    url: Word
    """Where events go: an address by HTTPS, of a host that is public."""
    event_types: Types = Field(default_factory=list)
    """Which events; all of them if left out or empty."""
    description: Word | None = None
    """Description."""
    secret: Annotated[str, Field(max_length=200)] | None = None
    """What signs: `whsec_` and the base64 of 24 to 64 random bytes. Made if left out."""
    is_enabled: bool = True
    """Whether events are delivered."""


class HookChange(StrictlyGiven):
    """What is to be different; what is left out stays."""

    url: Word | None = None
    """New URL, also for waiting deliveries."""
    event_types: Types | None = None
    """Which events; an empty list is all of them."""
    description: Word | None = None
    """Description; null removes it."""
    secret: Annotated[str, Field(max_length=200)] | None = None
    """Another secret of yours; the one before signs beside it for 24 hours."""
    is_enabled: bool | None = None
    """False: nothing is told, and what waits goes on waiting. True: it is told again."""

    @model_validator(mode="after")
    def _has_some(self) -> "HookChange":
        if not self.model_fields_set:
            raise ValueError("give at least one field")
        for name in ("url", "event_types", "secret", "is_enabled"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise ValueError(f"{name} cannot be null")
        return self


class SecretRotation(StrictlyGiven):
    """How a secret is replaced."""

    overlap_hours: Annotated[float, Field(ge=0, le=720, strict=False)] = 24
    """Hours for which both secrets sign; 0: the old one stops at once."""
    secret: Annotated[str, Field(max_length=200)] | None = None
    """A secret of yours, as in registering. Made if left out."""


class TestAsked(StrictlyGiven):
    """What a test tells."""

    __test__ = False  # for pytest

    type: OneType | Literal["webhook.test"] | None = None
    """Type of the test event; `webhook.test` if omitted."""


class LogQuery(PageQuery):
    """Which deliveries are listed."""

    status: DeliveryStatus | None = None
    """Filter by status."""
    type: EventType | Literal["webhook.test"] | None = None
    """Filter by event type."""
    since: AwareDatetime | None = None
    """Filter by creation at or after this time."""
    until: AwareDatetime | None = None
    """Filter by creation before this time."""
    email_id: UUID | None = None
    """Filter by email id."""


class RangeRetry(StrictlyGiven):
    """What is delivered again."""

    since: Annotated[AwareDatetime, Field(strict=False)] | None = None
    """Only what was told at or after this instant."""
    until: Annotated[AwareDatetime, Field(strict=False)] | None = None
    """Only what was told before this instant."""
    statuses: Annotated[list[Ended], Field(min_length=1, max_length=3)] = Field(
        default_factory=_not_delivered
    )
    """Filter by status; `failed` and `cancelled` if omitted."""
    types: Types = Field(default_factory=list)
    """Filter by event types; all if omitted."""
    limit: Annotated[int, Field(ge=1, le=10_000)] = 10_000
    """Maximum number of deliveries, oldest first."""
