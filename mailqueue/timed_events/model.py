"""Timed events: claimed rows, their outcomes, filters. Values only."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.contract.automation.timed_events import TimedEventStatus


class ClaimedEvent(NamedTuple):
    """A claimed row of timed_events."""

    id: UUID
    claim_no: int
    project_id: UUID


@dataclass(frozen=True, slots=True)
class DueEvent:
    """An event that is due: its mail or webhook call is written in the settling transaction."""


class FiredEvent(NamedTuple):
    """What became of an event that was due; `outcome` as the functions of queues name it."""

    id: UUID
    outcome: str
    status: str | None
    reason: str | None
    email_id: UUID | None
    delivery_id: UUID | None


class AddedEvent(NamedTuple):
    """The event that was added, or the one that has its idempotency key."""

    id: UUID
    is_new: bool


@dataclass(frozen=True, slots=True)
class TimedEventFilter:
    """Conditions for timed events; None matches every row."""

    kind: str | None = None
    status: TimedEventStatus | None = None
    contact_id: UUID | None = None
    since: datetime | None = None
    """DueEvent at this time or after."""
    until: datetime | None = None
    """DueEvent before this time."""
