"""What maintenance speaks of: tasks and their reports, kinds of records, archive files."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.core.errors import MailqueueError
from mailqueue.core.retained import RETAINED

Advance = Callable[[int], None]
"""Hears of progress: so many records more."""


class Task(StrEnum):
    """What there is to do, in the order in which it is done."""

    PARTITIONS = "partitions"
    COUNTERS = "counters"
    WARM_UP = "warm-up"
    KEYS = "keys"
    RETENTION = "retention"
    ARCHIVE = "archive"
    ANALYZE = "analyze"
    VACUUM = "vacuum"


@dataclass(frozen=True, slots=True)
class Report:
    """What one run of a task did, in a line, and what only a person can do."""

    summary: str
    counts: dict[str, int] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    """A task's report under its name; `is_busy`: another process was at it, we did nothing."""

    task: Task
    report: Report
    is_busy: bool = False

    @property
    def needs_person(self) -> bool:
        return bool(self.report.needs)


class Kind(StrEnum):
    """Records that leave by project and month."""

    HISTORY = "email_history"
    LOGS = "send_logs"
    EVENTS = "email_events"
    ENGAGEMENT = "opens_clicks"
    CONTENTS = "email_contents"
    ATTACHMENTS = "attachments"


# Mails first: contents leave when no mail uses them any more.
TABLE_BY_KIND = {Kind(one.kind): one.table for one in RETAINED if one.is_archived}
TIME_BY_TABLE = {one.table: one.time_column for one in RETAINED if one.is_archived}


class State(StrEnum):
    """How far a file of the archive is."""

    WRITING = "writing"  # the table has everything, the file may be anything
    WRITTEN = "written"  # the file is complete
    VERIFIED = "verified"  # read back: its records may leave the table
    ARCHIVED = "archived"  # they have left
    RESTORED = "restored"  # they are back, until keep_until
    PURGED = "purged"  # the file is deleted


@dataclass(frozen=True, slots=True)
class Due:
    """A project whose records of a month are old enough to leave; `is_deleted`: without archive."""

    project_id: UUID
    is_deleted: bool


@dataclass(frozen=True, slots=True)
class Partition:
    """A table of one month."""

    parent: str
    name: str
    month: date
    state: str  # attached, detaching, detached


@dataclass(frozen=True, slots=True)
class Archive:
    """One file of the archive, as the manifest has it."""

    id: int
    project_id: UUID
    kind: str
    month: date
    part: int
    state: str
    tier: str
    store: str
    path: str
    revision: int
    records: int | None
    bytes: int | None
    sha256: str | None
    removed: int
    gone_elsewhere: list[int]
    keep_until: datetime | None
    written_on: str
    leftover_store: str | None
    leftover_path: str | None

    @property
    def name(self) -> str:
        return f"archive {self.id} ({self.kind} of {self.month:%Y-%m}, {self.path})"


@dataclass(frozen=True, slots=True)
class ArchiveFile:
    """One file of the archive, as people look at it."""

    id: int
    project: str | None
    kind: str
    month: date
    part: int
    state: str
    tier: str
    records: int | None
    bytes: int | None
    first_at: datetime | None
    last_at: datetime | None
    store: str
    path: str
    sha256: str | None
    written_at: datetime
    verified_at: datetime | None
    archived_at: datetime | None
    keep_until: datetime | None
    purged_at: datetime | None


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file that was replaced or purged and is still to be deleted."""

    id: int
    store: str
    path: str


@dataclass(frozen=True, slots=True)
class Retention:
    """How long one kind of record of a project is kept, in days; None: for good, or never cold."""

    project: str
    kind: str
    hot_days: int
    warm_days: int | None
    keep_days: int | None
    is_own: bool


@dataclass(frozen=True, slots=True)
class Stay:
    """The fewest days any project's records of a kind stay hot."""

    kind: str
    days: int


@dataclass(frozen=True, slots=True)
class Swept:
    """What one batch of a sweep did; `last` None: there was nothing left to look at."""

    last: UUID | None
    swept: int


@dataclass(frozen=True, slots=True)
class WarmUp:
    """A sender account in warm-up today."""

    project: str
    sender: str
    stage: int
    stages: int
    daily_limit: int | None
    daily_sent: int
    daily_bounces: int


@dataclass(frozen=True, slots=True)
class ExpiringKey:
    """An API key that will expire soon."""

    project: str
    name: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class VacuumNeed:
    """A table with many dead rows, or an old transaction number (`age`)."""

    name: str
    live: int
    dead: int
    age: int
    last_autovacuum: datetime | None


@dataclass(frozen=True, slots=True)
class Named:
    """Something of a project that has a name."""

    project: str
    name: str


class ArchiveBroken(MailqueueError):
    """A file of the archive is not what the manifest says; the message names it and the fix."""
