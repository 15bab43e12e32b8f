"""Schedules and their runs, as callers see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


class ScheduleType(StrEnum):
    """When a schedule runs."""

    ONCE = "once"
    CRON = "cron"
    LOCAL = "local"


class ScheduleStatus(StrEnum):
    """The state of a schedule."""

    ACTIVE = "active"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    COMPLETED = "completed"
    FAILED = "failed"


class MissedPolicy(StrEnum):
    """What becomes of occurrences that no worker ran in time."""

    SKIP = "skip"
    LATEST = "latest"
    ALL = "all"


class OverlapPolicy(StrEnum):
    """What becomes of an occurrence while the run before is still being made."""

    SKIP = "skip"
    QUEUE = "queue"


@dataclass(frozen=True, slots=True)
class Schedule(Value):
    """Mail that is made at a time: once, or again and again."""

    id: UUID
    """Id of the schedule; `mailqueue why` explains it."""
    name: str | None
    """Name, unique among the unfinished schedules of the project."""
    schedule_type: ScheduleType
    """`once`, `cron`, or `local`: at a time on the clock of each recipient."""
    run_at: str | None
    """Time of a schedule that runs once; without an offset where it is on recipients' clocks."""
    cron_expression: str | None
    """Cron expression of five fields, or a word such as `@daily`."""
    timezone: str
    """Time zone of the cron expression."""
    template_slug: str | None
    """Slug of the template, with `@` and its version if the schedule names one."""
    language: str | None
    """Language of the template, unless a recipient has one."""
    payload: Mapping[str, Any]
    """Recipients in `to`, variables and options of the emails."""
    status: ScheduleStatus
    """`active`, `paused`, `cancelled`, `completed` or `failed`."""
    reason: str | None
    """Why it is in this state, or what failed last."""
    next_run_at: datetime | None
    """The next occurrence; null if there is none, or while it is being computed."""
    last_run_at: datetime | None
    """The occurrence that ran last."""
    last_missed_at: datetime | None
    """The occurrence that was last left out, as no worker ran it in time or a run was not over."""
    run_count: int
    """Number of runs."""
    missed: MissedPolicy
    """Of occurrences that are more than 5 minutes late: `skip` them, run the `latest`, or `all`."""
    overlap: OverlapPolicy
    """While a run is still being made: `skip` an occurrence, or `queue` it."""
    ends_at: datetime | None
    """No occurrence after it runs."""
    max_runs: int | None
    """Number of runs after which the schedule is completed."""
    spread_seconds: int
    """Length of the window over which the emails of a run are spread."""
    zone_release: str | None
    """Version of the rules of time zones by which `next_run_at` was computed."""
    is_test: bool
    """Whether its emails go to the trap."""
    created_by: str
    """Who added it."""
    created_at: datetime
    """Time at which it was added."""
    updated_at: datetime
    """Time of its last change."""


@dataclass(frozen=True, slots=True)
class ScheduleRun(Value):
    """One run of a schedule, and what it has made."""

    id: UUID
    """Id of the run, and of its first batch."""
    schedule_id: UUID
    """Id of its schedule."""
    number: int
    """Number of the run, from 1."""
    scheduled_at: datetime
    """The occurrence that it is for."""
    started_at: datetime
    """Time at which it began."""
    finished_at: datetime | None
    """Time at which its last email was made; null until then."""
    status: str
    """`running`, `done`, `cancelled` or `failed`."""
    started_by: str
    """`schedule`, or `request` for a run that someone asked for."""
    queued: int
    """Emails that were queued."""
    suppressed: int
    """Recipients that are suppressed."""
    rejected: int
    """Recipients that were refused, such as for a missing variable."""
    reason: str | None
    """Why recipients were refused, or the run failed: the first reason."""
    batch_ids: Sequence[UUID]
    """Its batches, of at most 10,000 emails each: see `/v1/batches/{batch_id}`."""
    zone_sources: Mapping[str, int] | None
    """For times on recipients' clocks: recipients by what told their time zone: `recipient`,
    `contact`, `country` (of their last open) or `project`."""


@dataclass(frozen=True, slots=True)
class ScheduleRunRecipient(Value):
    """One recipient of a run that was made in parts."""

    email: str
    """Address in lower case."""
    email_id: UUID | None
    """Id of the email; null if it was refused."""
    status: str
    """`queued`, `suppressed`, `rejected` or `duplicate`."""
    reason: str | None
    """Why it was refused."""
    send_at: datetime | None
    """Time at which the email is due."""
    timezone: str | None
    """Time zone of the recipient, for times on recipients' clocks."""
    zone_source: str | None
    """What told the time zone: `recipient`, `contact`, `country` or `project`."""


@dataclass(frozen=True, slots=True)
class ScheduleEstimate(Value):
    """What a run of a schedule would come to now. Nothing is sent."""

    recipients: int
    """Recipients of a run, each once."""
    is_complete: bool
    """Whether all were counted; otherwise there are more."""
    checked: int
    """How many of the recipients were compared with the suppressions."""
    suppressed: int
    """How many of these are suppressed, and get no email."""
    daily_limit: int | None
    """Recipients to which the project may send in a day: by its own limit or by those of its active
    sender accounts together, whichever is less; null: no limit."""
    sent_today: int
    """Recipients to which it has sent today."""
    headroom: int | None
    """Recipients to which it may still send today, by its limit and those of its accounts; null: no
    limit."""
    days: int | None
    """Days that a run takes within the daily limit, without those that are suppressed; null: no
    limit."""


@dataclass(frozen=True, slots=True)
class NextRun(Value):
    """An occurrence of a schedule that is to come."""

    run_at: datetime
    """The instant."""
    local_time: str
    """The same on the clock of the schedule, without an offset."""


@dataclass(frozen=True, slots=True)
class NextRuns(Value):
    """The next occurrences of a schedule, in order."""

    timezone: str
    """Time zone of the schedule."""
    zone_release: str
    """Version of the rules of time zones by which they were computed."""
    data: Sequence[NextRun]


@dataclass(frozen=True, slots=True)
class CancelledRun(Value):
    """What became of a schedule that was cancelled."""

    id: UUID
    """Id of the schedule."""
    status: str
    """`cancelled`: what it had not sent yet is not sent; `completed`: it had run before."""
    last_run: int | None
    """Number of its last run; null if it has not run."""
    queued: int
    """Emails that its last run had queued."""
    cancelled: int | None
    """Emails of its runs whose time had not come, and that are not sent. The others are sent,
    unless their batch is cancelled. Null: more than 10,000 were queued, and workers cancel them."""


@dataclass(frozen=True, slots=True)
class SkippedRun(Value):
    """An occurrence that a schedule leaves out."""

    skipped_at: datetime
    """The occurrence."""
    next_run_at: datetime | None
    """The next one after it."""
