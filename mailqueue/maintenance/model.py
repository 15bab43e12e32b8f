"""Values: tasks and their reports, kinds of records, archive files."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.core.errors import MailqueueError
from mailqueue.core.retained import RETAINED

Advance = Callable[[int], None]
"""Called with the number of records done since the last call."""


class Task(StrEnum):
    """Maintenance tasks, in the order they run."""

    PARTITIONS = "partitions"
    COUNTERS = "counters"
    WARM_UP = "warm-up"
    KEYS = "keys"
    RETENTION = "retention"
    ARCHIVE = "archive"
    AUDIT = "audit"
    ANALYZE = "analyze"
    VACUUM = "vacuum"


@dataclass(frozen=True, slots=True)
class TaskReport:
    """Result of one run of a task in a line, and the steps that need an operator."""

    summary: str
    counts: dict[str, int] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskResult:
    """A task and its report.

    `is_busy`: skipped, because another process runs it; `is_stopped`: an error ended it;
    `is_transient`: one that may be over in a minute, such as a lock of another session.
    """

    task: Task
    report: TaskReport
    is_busy: bool = False
    is_stopped: bool = False
    is_transient: bool = False

    @property
    def needs_person(self) -> bool:
        return bool(self.report.needs)


class RecordKind(StrEnum):
    """Kinds of records that are archived by project and month."""

    HISTORY = "email_history"
    LOGS = "send_logs"
    EVENTS = "email_events"
    ENGAGEMENT = "opens_clicks"
    CONTENTS = "email_contents"
    ATTACHMENTS = "attachments"


# Mails first: contents are archived when no mail uses them.
TABLE_BY_KIND = {RecordKind(one.kind): one.table for one in RETAINED if one.is_archived}
TIME_BY_TABLE = {one.table: one.time_column for one in RETAINED if one.is_archived}


class ArchiveState(StrEnum):
    """State of an archive file."""

    WRITING = "writing"  # the rows are in the table, the file may be incomplete
    WRITTEN = "written"  # the file is complete
    VERIFIED = "verified"  # read back: its rows may be deleted
    ARCHIVED = "archived"  # its rows are deleted
    RESTORED = "restored"  # its rows are in the table again, until keep_until
    PURGED = "purged"  # the file is deleted


@dataclass(frozen=True, slots=True)
class DueMonth:
    """A project whose records of a month are old enough to be archived; `is_deleted`: deleted
    instead.
    """

    project_id: UUID
    is_deleted: bool


@dataclass(frozen=True, slots=True)
class Partition:
    """A monthly partition."""

    parent: str
    name: str
    month: date
    state: str  # attached, detaching, detached


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive file, as the manifest has it."""

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
class Leftover:
    """A replaced or purged file that is still to be deleted."""

    id: int
    store: str
    path: str


@dataclass(frozen=True, slots=True)
class ShortestRetention:
    """The shortest time that records of a kind stay in their table, over all projects, in days."""

    kind: str
    days: int


@dataclass(frozen=True, slots=True)
class Swept:
    """Result of one batch of a sweep; `last` None: there was nothing left."""

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
class ProjectItem:
    """A name and its project."""

    project: str
    name: str


class ArchiveBroken(MailqueueError):
    """An archive file differs from the manifest; the message names the file and the fix."""
