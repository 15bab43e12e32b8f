"""What operators see: the queues, workers, accounts and processes of all projects."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from mailqueue.contract.admin import QueueState
from mailqueue.contract.infrastructure import ServiceSeen
from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class LaneDepth(Value):
    """Unfinished mail of one lane, its throughput and what blocks it."""

    project: str
    priority: int
    """0 critical to 3 low."""
    route: str
    pending: int
    due: int
    assigned: int
    held: int
    oldest_due_at: datetime | None
    oldest_wait: timedelta | None
    sent_per_minute: float
    """Over the last five minutes."""
    blocked_reason: str | None
    blocked_by: str | None
    """With the text of the pause, if that is the reason."""
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class SenderToday(Value):
    """What a sender account sent today and may still send, in recipients."""

    project: str
    sender: str
    provider: str
    status: str
    status_reason: str | None
    daily_sent: int
    daily_reserved: int
    daily_limit: int | None
    """None: no limit."""
    headroom: int | None
    """None: no limit."""
    daily_bounces: int
    daily_errors: int
    blocked_reason: str | None
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class WorkerSeen(Value):
    """A worker process and its last heartbeat."""

    id: int
    kind: str
    host: str
    pid: int
    version: str
    status: str
    """Running, stopping, silent, stopped, lost."""
    started_at: datetime
    silence: timedelta
    assigned: int
    queues: list[str]
    assigned_rows: int


@dataclass(frozen=True, slots=True)
class Overview(Value):
    """The data of `mailqueue status`."""

    lanes: list[LaneDepth]
    senders: list[SenderToday]
    workers: list[WorkerSeen]
    totals: dict[str, int]
    """By status word."""
    estimated: list[str]
    """Status words whose total is estimated from statistics."""
    queues: list[QueueState]
    """Besides mail."""
    services: list[ServiceSeen]


@dataclass(frozen=True, slots=True)
class AccountTraffic(Value):
    """How recent attempts of one sender account ended, and how long its server took."""

    project: str
    sender: str
    provider: str
    attempts: int
    sent: int
    deferred: int
    bounced: int
    failed: int
    """With those whose outcome is unknown."""
    median_ms: int | None
    """Half of the responses took at most so many milliseconds."""
    p95_ms: int | None
    """95 of 100 responses took at most so many milliseconds."""


@dataclass(frozen=True, slots=True)
class QueueRow(Value):
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
class ExplainedRow(Value):
    """A row of a queue besides mail with the reason for its state."""

    row: QueueRow
    why: str


@dataclass(frozen=True, slots=True)
class RowsChanged(Value):
    """Number of rows of one queue that an operation changed."""

    queue: str
    rows: int


@dataclass(frozen=True, slots=True)
class BookLine(Value):
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
    difference: int
    """Above 0: rows are missing; below: too many."""


@dataclass(frozen=True, slots=True)
class ActionResult(Value):
    """Result of a command on one mail."""

    id: UUID
    result: str


@dataclass(frozen=True, slots=True)
class BulkResult(Value):
    """Result of an operation; its row in audit_events has the same."""

    operation: int
    emails: int


@dataclass(frozen=True, slots=True)
class Pause(Value):
    """A pause of a project, sender account, campaign or recipient domain, or of all sending."""

    project: str | None
    """None: of all projects."""
    kind: str
    name: str
    reason: str | None
    until: datetime | None
    """None: until it is resumed."""
    actor: str | None
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Notice(Value):
    """A notice for the administrators of a project."""

    id: int
    noticed_at: datetime
    project: str
    kind: str
    sender: str | None
    email_id: UUID | None
    told: str
    seen_at: datetime | None
    seen_by: str | None


@dataclass(frozen=True, slots=True)
class RequestSummary(Value):
    """A request as it is listed."""

    id: UUID
    project: str | None
    sender: str | None
    provider: str
    status: str
    received_at: datetime
    run_at: datetime
    attempts: int
    bytes: int
    outcome: dict[str, Any]
    last_error: str | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class RetriedRequests(Value):
    """Number of requests that are processed again."""

    retried: int


@dataclass(frozen=True, slots=True)
class BulkAction(Value):
    """An operation on all emails that match a filter."""

    matched: int
    emails: int
    """Number of emails that were changed."""
    operation: int | None
    """Number of the operation; null where nothing was changed."""
    dry_run: bool


@dataclass(frozen=True, slots=True)
class RestoreHold(Value):
    """Emails that were held after a restore from a backup, or would be."""

    emails: int
    operation: int | None
    """Number of the operation; null for a dry run."""
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Resumed(Value):
    """A pause was ended."""

    resumed: bool


@dataclass(frozen=True, slots=True)
class AuditVerification(Value):
    """The audit log compared with its seals."""

    sealed: int
    """Rows with a seal."""
    changed: int
    """Permitted changes that were sealed: erasures, and counts of operations in batches."""
    waiting: int
    """Rows that are not sealed yet."""
    deleted_until: datetime | None
    """When retention deleted rows last; null: never."""
    head: str | None
    """Position and code of the newest seal: note it elsewhere to detect that seals were removed."""
    faults: Sequence[str]
    """Rows and seals that were changed, deleted or added, the first 100; empty: none."""
    why_not: str | None
    """Why the log was not verified; null where it was."""


@dataclass(frozen=True, slots=True)
class Verification(Value):
    """Accepted emails compared with their outcomes, files that were read, and the audit log."""

    adds_up: bool
    faults: Sequence[str]
    books: Sequence[BookLine]
    files: int | None
    """Number of files read; null where none were to be read."""
    audit: AuditVerification
