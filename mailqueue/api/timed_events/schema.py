"""Request bodies and queries of timed events and the birthday rule."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field, NaiveDatetime

from mailqueue.api.emails.schema import Instant, StorableObject, StorableText
from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import StrictRequestModel


def _wall_clock(value: object) -> object:
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            found = None
        if found is None or found.tzinfo is not None or "T" not in value:
            raise ValueError("must be a wall clock such as 2026-05-31T09:00:00, without an offset")
        return found
    return value


WallClock = Annotated[NaiveDatetime, Field(strict=False), BeforeValidator(_wall_clock)]
"""A wall clock as a string in RFC 3339 format, without an offset."""
Id = Annotated[UUID, Field(strict=False)]
KindText = Annotated[StorableText, Field(min_length=1, max_length=50)]
ZoneText = Annotated[StorableText, Field(min_length=1, max_length=100)]
SlugText = Annotated[StorableText, Field(min_length=1, max_length=120)]
TimedStatusWord = Literal["PENDING", "PROCESSING", "COMPLETED", "FAILED"]


class NewTimedEvent(StrictRequestModel):
    """A timed event to add: `at` or `local_at`, and `template` or `webhook_id`."""

    kind: KindText
    """Kind of the event, such as `renewal`: letters, digits, `.`, `-` and `_`."""
    at: Instant | None = None
    """Instant at which it is due: RFC 3339 with an offset."""
    local_at: WallClock | None = None
    """Wall clock at which it is due, without an offset: `2026-05-31T09:00:00`."""
    time_zone: ZoneText | None = None
    """IANA time zone of `local_at`; that of the contact if null, or else of the project. Without
    it, the event moves when the contact's time zone changes."""
    contact_id: Id | None = None
    """Contact that it is about: the recipient of the mail, and `contact` in its template."""
    template: SlugText | None = None
    """Template of the mail: slug, or slug@version."""
    recipient: Annotated[StorableText, Field(min_length=1, max_length=600)] | None = None
    """Recipient of the mail; the contact if null."""
    webhook_id: Id | None = None
    """Webhook of the project that is called instead."""
    payload: StorableObject = Field(default_factory=dict)
    """Variables of the template, or what the webhook receives: up to 64 KiB."""
    idempotency_key: Annotated[StorableText, Field(min_length=1, max_length=255)] | None = None
    """A second event with this key is the same event. If null: the kind, the contact and the local
    date, or a new one where there is no contact."""


class ChangeTimedEvent(StrictRequestModel):
    """Fields of a pending event to change; omitted fields are unchanged."""

    version: Annotated[int, Field(ge=1, le=2_147_483_647)]
    """Version of the event that was read; 409 if it has changed since."""
    at: Instant | None = None
    """Instant at which it is due: RFC 3339 with an offset."""
    local_at: WallClock | None = None
    """Wall clock at which it is due, without an offset."""
    time_zone: ZoneText | None = None
    """IANA time zone of the wall clock."""
    payload: StorableObject | None = None
    """Variables of the template, or what the webhook receives."""


class TimedEventsQuery(PageQuery):
    """Filters of a list of timed events."""

    kind: KindText | None = None
    """Filter by kind."""
    status: TimedStatusWord | None = None
    """Filter by status."""
    contact_id: Id | None = None
    """Filter by contact."""
    since: Instant | None = None
    """Earliest instant at which they are due: RFC 3339."""
    until: Instant | None = None
    """Instant before which they are due: RFC 3339."""


class CancelTimedEvent(StrictRequestModel):
    """The version of a pending event to cancel."""

    version: Annotated[int, Field(ge=1, le=2_147_483_647)] | None = None
    """Version of the event that was read; 409 if it has changed since. Any version if null."""


class SetBirthdayRule(StrictRequestModel):
    """What is done on birthdays: `template` or `webhook_id`."""

    local_time: Annotated[StorableText, Field(min_length=5, max_length=5)] = "09:00"
    """Time of the day in the contact's time zone, or else in the project's."""
    leap_day: Literal["february_28", "march_1"] = "february_28"
    """Birthday of those born on 29 February in other years."""
    template: SlugText | None = None
    """Template of the mail: slug, or slug@version."""
    webhook_id: Id | None = None
    """Webhook of the project that is called instead."""
    payload: StorableObject = Field(default_factory=dict)
    """Variables of the template, or what the webhook receives: up to 64 KiB."""
