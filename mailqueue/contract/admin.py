"""The installation: its queue, workers, providers, settings and health."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class HealthCheck(Value):
    """What one check of the installation found."""

    name: str
    state: str
    """`ok`, `warning` or `alarm`."""
    found: str
    fix: str | None


@dataclass(frozen=True, slots=True)
class PlatformHealth(Value):
    """The worst state of all checks, and what each found."""

    status: str
    checks: Sequence[HealthCheck]


@dataclass(frozen=True, slots=True)
class RevokedKey(Value):
    """An API key that was revoked."""

    project: str
    name: str
    hint: str


@dataclass(frozen=True, slots=True)
class RevokedKeys(Value):
    """The API keys that were revoked."""

    revoked: int
    keys: Sequence[RevokedKey]


@dataclass(frozen=True, slots=True)
class AdminEvent(Value):
    """An event of an email, or an attempt to hand it over."""

    id: str
    source: str
    type: str
    occurred_at: datetime
    project: str | None
    email_id: UUID
    recipient: str | None
    sender: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class WorkerProcess(Value):
    """One worker process, by its last heartbeat."""

    id: int
    kind: str
    host: str
    pid: int
    version: str
    status: str
    """`running`, `draining`, `stopping`, `silent`, `stopped` or `lost`."""
    started_at: datetime
    beat_at: datetime
    silent_seconds: float
    """Seconds since the last heartbeat."""
    assigned: int
    """Emails it holds."""
    is_parked: bool
    ended_at: datetime | None
    queues: Sequence[str]
    """Queues it works on."""
    assigned_rows: int
    """Rows of its queues it holds, emails apart."""


@dataclass(frozen=True, slots=True)
class Flow(Value):
    """Outcomes of the attempts of all projects in the last minutes."""

    minutes: int
    sent: int
    deferred: int
    bounced: int
    failed: int
    sent_per_second: float


@dataclass(frozen=True, slots=True)
class QueueLane(Value):
    """Unfinished emails of one lane, and why they wait."""

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
    """Whether `pending` is an estimate from statistics."""


@dataclass(frozen=True, slots=True)
class StatusCount(Value):
    """Number of emails in one status."""

    status: str
    emails: int
    is_estimate: bool
    """Whether `emails` is an estimate from statistics."""


@dataclass(frozen=True, slots=True)
class QueueState(Value):
    """Rows of one queue besides emails; counts above 10,000 are shown as 10,001."""

    queue: str
    due: int
    oldest_due_at: datetime | None
    scheduled: int
    """Rows that are not due yet."""
    assigned: int
    """Rows that a worker handles."""
    alone: int
    """Rows handled in a process of their own because their worker stopped before."""
    failed_last_day: int
    workers: int
    """Running worker processes of this queue."""


@dataclass(frozen=True, slots=True)
class QueueBoard(Value):
    """All lanes with unfinished emails, emails by status, throughput, and the other queues."""

    lanes: Sequence[QueueLane]
    statuses: Sequence[StatusCount]
    flow: Sequence[Flow]
    queues: Sequence[QueueState]


@dataclass(frozen=True, slots=True)
class ProviderBoard(Value):
    """One sender account: its circuit, recent failures and what it may still send."""

    project: str
    sender: str
    provider: str
    status: str
    status_reason: str | None
    circuit: str
    """`closed`, `open` or `half_open`."""
    circuit_since: datetime | None
    next_probe_at: datetime | None
    recent_failures: int
    recent_sent: int
    failures: Mapping[str, Any]
    """Failures of the last hour by class."""
    last_errors: Sequence[str]
    last_failed_at: datetime | None
    recommendation: str
    daily_sent: int
    daily_limit: int | None
    headroom: int | None
    blocked_reason: str | None
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class Setting(Value):
    """One setting of the installation."""

    name: str
    value: str
    kind: str
    meaning: str
    changed_at: datetime | None
    """Null where it is not recorded."""


@dataclass(frozen=True, slots=True)
class Administrator(Value):
    """An administrator with a token, without the token itself."""

    id: UUID
    name: str
    hint: str
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class CreatedAdministrator(Value):
    """A new administrator; the token is shown only once."""

    name: str
    token: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class RevokedAdministrator(Value):
    """An administrator whose token was revoked."""

    name: str
    is_revoked: bool


@dataclass(frozen=True, slots=True)
class ConsoleUser(Value):
    """A person who logs in to the console."""

    id: UUID
    name: str
    role: str
    """`superadmin`, `project_admin`, `support` or `viewer`."""
    sees_all: bool
    """Whether the user sees every project, present and future."""
    projects: Sequence[str]
    """Names of the projects that the user sees; empty where `sees_all` is true."""
    issuer: str | None
    """OpenID Connect issuer at which the user logs in, which names role and projects with every
    login; null for a user with a password."""
    has_password: bool
    has_second_factor: bool
    """Whether logins with the password need a code as well."""
    passkeys: int
    """Number of passkeys with which the user logs in instead of with the password."""
    link_until: datetime | None
    """Until when a link can set the user's password; null where there is none."""
    sessions: int
    """Number of sessions that may still be used."""
    created_by: str
    created_at: datetime
    last_login_at: datetime | None
    removed_at: datetime | None


@dataclass(frozen=True, slots=True)
class ConsoleLink(Value):
    """The link by which a user of the console sets a password; shown only once."""

    name: str
    link: str
    until: datetime


@dataclass(frozen=True, slots=True)
class RemovedConsoleUser(Value):
    """A user of the console who was removed."""

    name: str
    is_removed: bool


@dataclass(frozen=True, slots=True)
class ProjectMember(Value):
    """A user of the console who sees a project by its name, not as one of all projects."""

    user_id: UUID
    name: str
    role: str
    """`project_admin`, `support` or `viewer`."""
    issuer: str | None
    """OpenID Connect issuer at which the user logs in, which names role and projects with every
    login; null for a user with a password."""
    has_password: bool
    added_at: datetime
    last_login_at: datetime | None


@dataclass(frozen=True, slots=True)
class RemovedMember(Value):
    """A user of the console who no longer sees a project."""

    name: str
    project: str
    is_removed: bool
