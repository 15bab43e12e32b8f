"""Timed events and birthday rules, as callers see them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


class TimedEventStatus(StrEnum):
    """The state of a timed event."""

    PENDING = "PENDING"  # not due yet, or waiting for a retry
    PROCESSING = "PROCESSING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"  # or cancelled: failure_reason says why


class LeapDay(StrEnum):
    """The birthday of those born on 29 February in years without one."""

    FEBRUARY_28 = "february_28"
    MARCH_1 = "march_1"


@dataclass(frozen=True, slots=True)
class TimedEvent(Value):
    """Mail or a webhook call that is due at a time."""

    id: UUID
    kind: str
    """Kind of the event, such as `renewal`; those of birthday rules are of kind `birthday`."""
    status: TimedEventStatus
    """`PENDING`, `PROCESSING`, `COMPLETED` or `FAILED`."""
    at: datetime
    """Instant at which it is due."""
    local_at: str
    """The same on the wall clock of its time zone."""
    time_zone: str
    """Time zone of `local_at`."""
    contact_id: UUID | None
    """Contact that the event is about; it is removed with it."""
    template: str | None
    """Template of its mail: slug, or slug@version."""
    recipient: str | None
    """Recipient of its mail; null for the contact."""
    webhook_id: UUID | None
    """Webhook that is called instead."""
    payload: Mapping[str, Any]
    """Variables of the template, or what the webhook receives."""
    idempotency_key: str
    """A second event with this key is the same event; webhooks receive it as `Idempotency-Key`."""
    version: int
    """1, and one more with each change."""
    retry_count: int
    """Number of retries, at most 3."""
    failure_reason: str | None
    """Why it failed, or its last attempt did."""
    executed_at: datetime | None
    """Time at which its mail was queued, or its webhook accepted the call."""
    email_id: UUID | None
    """Id of its mail."""
    delivery_id: UUID | None
    """Id of the delivery to its webhook."""
    is_test: bool
    is_birthday: bool
    """Whether it was made from the contact's date of birth."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class PutTimedEvent(Value):
    """The event that was added, or the one that has its idempotency key."""

    event: TimedEvent
    is_new: bool
    """False where an event had this idempotency key: it is unchanged."""


@dataclass(frozen=True, slots=True)
class BirthdayRule(Value):
    """What is done on birthdays of the contacts of a project."""

    local_time: str
    """Time of the day in the contact's time zone, such as 09:00; else in the project's."""
    leap_day: LeapDay
    """The birthday of those born on 29 February in years without one."""
    template: str | None
    """Template of the mail: slug, or slug@version."""
    webhook_id: UUID | None
    """Webhook that is called instead."""
    payload: Mapping[str, Any]
    """Variables of the template, or what the webhook receives."""
    is_planned: bool
    """Whether the birthdays of all contacts are planned by this rule; workers do it in seconds."""
    version: int
    """1, and one more with each change; the audit log has all versions."""
    created_at: datetime
    updated_at: datetime
