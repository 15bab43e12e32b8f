"""What an operator sees: the queue, one mail, the books, and what a check found. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.emails import Recipient

PRIORITIES = ("critical", "high", "normal", "low")


@dataclass(frozen=True, slots=True)
class LaneDepth:
    """Unfinished mail of one lane, how fast it goes and what holds it up."""

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
    blocked_by: str | None  # a pause in words, where the reason is one
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class SenderToday:
    """What one sender account did today and may still do; recipients are counted."""

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
    """One worker process as its heartbeat tells."""

    id: int
    kind: str
    host: str
    pid: int
    version: str
    status: str  # running, stopping, silent, stopped, lost
    started_at: datetime
    silence: timedelta
    assigned: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything `mailqueue status` shows."""

    lanes: list[LaneDepth]
    senders: list[SenderToday]
    workers: list[WorkerSeen]
    totals: dict[str, int]  # by status word
    estimated: list[str]  # status words whose total is what statistics know, not a count


@dataclass(frozen=True, slots=True)
class EmailRow:
    """One mail without its bodies."""

    id: UUID
    project: str
    project_id: UUID
    status: str
    reason: str | None
    priority: int
    category: str
    recipient_email: str
    recipient_name: str | None
    subject: str | None
    campaign_id: str | None
    tags: list[str] | None
    created_at: datetime
    run_at: datetime | None  # None: finished
    finished_at: datetime | None
    expires_at: datetime
    attempts: int
    max_attempts: int
    recipients: int
    delivery: str
    sender: str | None
    worker_id: int | None
    last_error: str | None
    message_id: str | None


@dataclass(frozen=True, slots=True)
class LoggedAttempt:
    """One try to hand a mail over and what the server said."""

    attempt: int
    sent_at: datetime
    status: str
    sender: str | None
    worker_id: int | None
    error_code: str | None
    enhanced_code: str | None
    reply: str | None
    response_ms: int | None


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that came back about a mail: who told of what, in which words or by which link."""

    occurred_at: datetime
    type: str
    recipient_email: str | None
    source: str | None
    code: str | None
    detail: str | None
    is_machine: bool | None


@dataclass(frozen=True, slots=True)
class Explained:
    """One mail, why it stands where it stands, what was tried and what came back."""

    email: EmailRow
    why: str
    attempts: list[LoggedAttempt]
    recipients: list[Recipient]
    events: list[Happening]


@dataclass(frozen=True, slots=True)
class BookLine:
    """What was accepted on a day (UTC) and what became of it."""

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
class Handled:
    """What a command did to one mail."""

    id: UUID
    result: str


class State(StrEnum):
    """How a check came out: a warning needs attention if it stays, an alarm needs a person now."""

    OK = "ok"
    WARNING = "warning"
    ALARM = "alarm"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    check: str
    is_ok: bool
    says: str
    fix: str | None = None  # None when nothing is wrong
    state: State = State.OK


@dataclass(frozen=True, slots=True)
class Order:
    """An operation on all mail that matches: the verb, the filter, and what the verb needs."""

    verb: str  # hold, release, cancel, requeue, resend, reprioritise
    where: Mapping[str, str]  # as SQL's filters take it
    argument: Mapping[str, str]  # reason, priority


@dataclass(frozen=True, slots=True)
class Done:
    """What an operation did; its row in audit_events says the same."""

    operation: int
    emails: int


@dataclass(frozen=True, slots=True)
class Pause:
    """What is paused: a project, a sender account, a campaign or a recipient domain."""

    project: str
    kind: str
    name: str
    reason: str | None
    until: datetime | None  # None: until somebody resumes it
    actor: str | None
    since: datetime | None
