"""Administrators, settings, events and boards of the whole installation. Values only."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from mailqueue.core.secret import Secret


class SettingKind(StrEnum):
    """How the value of a setting is written."""

    INTERVAL = "interval"
    COUNT = "count"
    BYTES = "bytes"
    RATE = "rate"
    LIST = "list"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of the installation; the value as people write it."""

    name: str
    value: str
    kind: str
    meaning: str
    changed_at: datetime | None  # None: not kept


@dataclass(frozen=True, slots=True)
class Administrator:
    """An administrator with a token of ours, as it may be shown."""

    id: UUID
    name: str
    hint: str
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewAdministrator:
    """A new administrator; `token` is shown once and cannot be found again."""

    token: Secret
    record: Administrator


@dataclass(frozen=True, slots=True)
class ProjectRetention:
    """How long one kind of a project's records is kept, in days; None: for good, or never cold."""

    kind: str
    hot_days: int
    warm_days: int | None
    keep_days: int | None
    is_own: bool


@dataclass(frozen=True, slots=True)
class RevokedKey:
    """A key that was put out of force."""

    project: str
    name: str
    hint: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a mail: an event, or an attempt to hand it over."""

    source: str  # event, attempt
    event_id: UUID | None
    attempt_id: int | None
    occurred_at: datetime
    type: str
    project: str | None
    email_id: UUID
    recipient: str | None
    sender: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class QueueLane:
    """Unfinished mail of one lane and what holds it up."""

    project: str
    priority: int
    route: str
    pending: int
    due: int
    assigned: int
    held: int
    oldest_due_at: datetime | None
    blocked_reason: str | None
    blocked_until: datetime | None
    is_estimate: bool


@dataclass(frozen=True, slots=True)
class StatusCount:
    """How many mails are in one status."""

    status: str
    emails: int
    is_estimate: bool


@dataclass(frozen=True, slots=True)
class Flow:
    """How attempts of all projects ended in the last minutes."""

    minutes: int
    sent: int
    deferred: int
    bounced: int
    failed: int
    sent_per_second: float


@dataclass(frozen=True, slots=True)
class QueueBoard:
    """All lanes that have unfinished mail, all mail by status, and how fast it goes."""

    lanes: list[QueueLane]
    statuses: list[StatusCount]
    flow: list[Flow]


@dataclass(frozen=True, slots=True)
class WorkerBoard:
    """One worker process as its heartbeat tells."""

    id: int
    kind: str
    host: str
    pid: int
    version: str
    status: str  # running, stopping, silent, stopped, lost
    started_at: datetime
    beat_at: datetime
    silence: timedelta
    assigned: int
    is_parked: bool
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class ProviderBoard:
    """One sender account: its circuit, what failed lately and what it may still send."""

    project: str
    sender: str
    provider: str
    status: str
    status_reason: str | None
    circuit: str  # closed, open, half_open
    circuit_since: datetime | None
    next_probe_at: datetime | None
    recent_failures: int
    recent_sent: int
    failures: dict[str, Any]  # of the last hour, by class
    last_errors: list[str]
    last_failed_at: datetime | None
    recommendation: str
    daily_sent: int
    daily_limit: int | None
    headroom: int | None
    blocked_reason: str | None
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """What one check of the installation found."""

    name: str
    state: str  # ok, warning, alarm
    found: str
    fix: str | None
