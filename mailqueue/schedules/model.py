"""Claimed schedules and runs, and what is to be written of them. Values only."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from mailqueue.schedules.recurrence import is_interval


class Occurrence(NamedTuple):
    """A time of a cron expression on the clock of its zone, and the instant."""

    local: datetime
    at: datetime


class Clock(NamedTuple):
    """What a clock shows at an instant; `place` counts from 1.

    `fold`: up to so much earlier times come again, as the clock was or will be set back.
    """

    place: int
    local: datetime
    fold: timedelta | None


@dataclass(frozen=True, slots=True)
class Recurrence:
    """When a schedule runs again and again; without a cron expression, when it runs once."""

    cron: str
    zone: str
    is_local: bool
    """Whether its times are on the clock of each recipient."""

    @property
    def kind(self) -> str:
        """Return how its times become instants: fixed, interval or local."""
        if self.is_local:
            return "local"
        return "interval" if self.cron and is_interval(self.cron) else "fixed"


AskedOccurrence = tuple[Recurrence, datetime]
"""A recurrence, and the instant after which its next occurrence is asked for."""


class Fire(NamedTuple):
    """What to write of a claimed schedule.

    `occurrence` None: no run begins. `following` None: it has no further occurrence.
    """

    occurrence: Occurrence | None
    following: Occurrence | None
    missed: datetime | None = None
    """The last occurrence that was left out, as no worker ran it in time."""
    size: int = 1
    """Room that it takes in a commit."""


class ClaimedSchedule(NamedTuple):
    """A claimed row of schedules, with what becomes of it."""

    id: UUID
    claim_no: int
    project_id: UUID
    schedule_type: str
    cron_expression: str | None
    time_zone: str
    next_run_at: datetime | None
    next_local: datetime | None
    plan_after: datetime | None
    missed: str
    ends_at: datetime | None
    max_runs: int | None
    run_count: int
    last_run_at: datetime | None
    recipients: int
    fire: Fire | None = None

    @property
    def recurrence(self) -> Recurrence | None:
        """Return when it runs again; None: it runs once."""
        if self.cron_expression is None:
            return None
        return Recurrence(self.cron_expression, self.time_zone, self.schedule_type == "local")


class ClaimedRun(NamedTuple):
    """A claimed row of schedule_runs."""

    id: UUID
    claim_no: int
    project_id: UUID


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of a run: done, cancelled or failed."""

    state: str
    reason: str | None = None
