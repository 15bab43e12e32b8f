"""Values for operators: the queue, single mails, the books, findings of checks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.administration import QueueState

PRIORITIES = ("critical", "high", "normal", "low")


@dataclass(frozen=True, slots=True)
class LaneDepth:
    """Unfinished mail of one lane, its throughput and what blocks it."""

    project: str
    priority: int  # 0 critical to 3 low
    route: str
    pending: int
    due: int
    assigned: int
    held: int
    oldest_due_at: datetime | None
    oldest_wait: timedelta | None
    sent_per_minute: float  # over the last five minutes
    blocked_reason: str | None
    blocked_by: str | None  # with the text of the pause, if that is the reason
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class SenderToday:
    """What a sender account sent today and may still send, in recipients."""

    project: str
    sender: str
    provider: str
    status: str
    status_reason: str | None
    daily_sent: int
    daily_reserved: int
    daily_limit: int | None  # None: no limit
    headroom: int | None  # None: no limit
    daily_bounces: int
    daily_errors: int
    blocked_reason: str | None
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class WorkerSeen:
    """A worker process and its last heartbeat."""

    id: int
    kind: str
    host: str
    pid: int
    version: str
    status: str  # running, stopping, silent, stopped, lost
    started_at: datetime
    silence: timedelta
    assigned: int
    queues: list[str]
    assigned_rows: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The data of `mailqueue status`."""

    lanes: list[LaneDepth]
    senders: list[SenderToday]
    workers: list[WorkerSeen]
    totals: dict[str, int]  # by status word
    estimated: list[str]  # status words whose total is estimated from statistics
    queues: list[QueueState]  # besides mail


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A row of a queue besides mail."""

    queue: str
    id: UUID
    project_id: UUID | None
    status: str
    priority: int
    run_at: datetime
    attempts: int
    max_attempts: int
    crashes: int
    """Deaths of workers while they handled it; then it is handled in a process of its own."""
    worker_id: int | None
    assigned_at: datetime | None
    lease_until: datetime | None
    last_error: str | None
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class ExplainedRow:
    """A row of a queue besides mail with the reason for its state."""

    row: QueueRow
    why: str


@dataclass(frozen=True, slots=True)
class RowsChanged:
    """Number of rows of one queue that an operation changed."""

    queue: str
    rows: int


@dataclass(frozen=True, slots=True)
class BookLine:
    """Mail accepted on a day (UTC), and its states now."""

    project: str
    day: date
    accepted: int
    sent: int
    failed: int
    suppressed: int
    expired: int
    cancelled: int
    queued: int
    held: int
    difference: int  # above 0: rows are missing; below: too many


@dataclass(frozen=True, slots=True)
class ActionResult:
    """Result of a command on one mail."""

    id: UUID
    result: str


class CheckState(StrEnum):
    """Result of a check: a warning needs attention if it stays, an alarm needs action now."""

    OK = "ok"
    WARNING = "warning"
    ALARM = "alarm"


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding of one check."""

    check: str
    is_ok: bool
    says: str
    fix: str | None = None  # None when nothing is wrong
    state: CheckState = CheckState.OK


@dataclass(frozen=True, slots=True)
class BulkOperation:
    """An operation on all matching mail: the verb, the filter, and the verb's argument."""

    verb: str  # hold, release, cancel, requeue, resend, reprioritise
    where: Mapping[str, str]  # as SQL's filters take it
    argument: Mapping[str, str]  # reason, priority


@dataclass(frozen=True, slots=True)
class BulkResult:
    """Result of an operation; its row in audit_events has the same."""

    operation: int
    emails: int


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of a project, sender account, campaign or recipient domain."""

    project: str
    kind: str
    name: str
    reason: str | None
    until: datetime | None  # None: until it is resumed
    actor: str | None
    since: datetime | None
