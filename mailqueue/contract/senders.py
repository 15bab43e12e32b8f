"""A sender account, its health and what came back of its emails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class SenderRouting(Value):
    """Emails that are routed to the account; null in a field for any."""

    category: Sequence[str] | None
    domain_pattern: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Sender(Value):
    """A sender account. Counts and limits are in recipients."""

    id: UUID
    project_id: UUID
    name: str
    provider_type: str
    credentials: Mapping[str, Any]
    """Credentials; secrets are masked."""
    priority: int
    is_primary: bool
    """Whether it is tried first."""
    is_fallback: bool
    is_active: bool
    status: str
    status_reason: str | None
    status_until: datetime | None
    circuit_state: str
    """`closed` (it sends), `open` (it does not, after failures) or `half_open` (one
    email probes it).
    """
    routing_rules: SenderRouting | None
    from_email: str | None
    from_name: str | None
    daily_limit: int | None
    sent_today: int
    """Recipients sent to today."""
    headroom: int | None
    """Recipients left for today; null for no limit."""
    hourly_limit: int | None
    """Recipients in any 60 minutes; null for no limit."""
    hourly_headroom: int | None
    """Recipients left of the hourly limit now; null for no limit."""
    minute_limit: int | None
    """Recipients in any 60 seconds; null for no limit."""
    minute_headroom: int | None
    """Recipients left of the minute limit now; null for no limit."""
    last_used_at: datetime | None
    """Time at which a worker last took email for it; null if it was never used."""
    rate_limit_per_sec: float | None
    burst: int
    """Recipients that one second may have beyond the rate."""
    batch_size: int
    send_delay_ms: int
    max_connections: int
    time_zone: str
    warm_up: Sequence[int] | None
    """Recipients per day on its 1st, 2nd, … day; null for no warm-up."""
    notes: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Senders(Value):
    """The accounts of a project, in the order they are tried."""

    data: Sequence[Sender]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class SenderCircuit(Value):
    """The circuit of a sender account and its recent failures."""

    status: str
    status_reason: str | None
    circuit_state: str
    circuit_since: datetime | None
    next_probe_at: datetime | None
    openings: int
    """Number of times in a row that the circuit has opened."""
    recent_failures: int
    """Failures of the last five minutes."""
    recent_domains: int
    recent_sent: int
    failures: Mapping[str, int]
    """Failures of the last hour by class."""
    last_errors: Sequence[str]
    """The last errors, newest first."""
    last_failed_at: datetime | None
    recommendation: str


@dataclass(frozen=True, slots=True)
class SmtpLine(Value):
    """One line of an SMTP conversation, without secrets."""

    by: str
    line: str


@dataclass(frozen=True, slots=True)
class SenderTest(Value):
    """The result of a test of a sender account."""

    success: bool
    sent: bool | None
    """Whether the email was accepted; null where none was requested."""
    connect_ms: int
    """Milliseconds to connect and log in."""
    send_ms: int | None
    kind: str | None
    code: str | None
    detail: str | None
    stage: str | None
    transcript: Sequence[SmtpLine]


@dataclass(frozen=True, slots=True)
class ProviderEndpoint(Value):
    """The endpoint that receives a provider's webhooks for an account; secrets are never shown."""

    provider: str
    url: str
    has_signing_secret: bool
    user: str | None
    has_password: bool
    topics: Sequence[str]
    settings: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class BounceRates(Value):
    """Bounces and complaints of an account within the window; rates are in percent."""

    project: str
    sender: str
    status: str
    since: datetime
    sent: int
    hard_bounces: int
    soft_bounces: int
    about_us: int
    complaints: int
    bounce_rate: float
    complaint_rate: float
    bounce_warn: float
    bounce_pause: float
    complaint_warn: float
    complaint_pause: float
    state: str
    found: str | None


@dataclass(frozen=True, slots=True)
class Route(Value):
    """A stored routing rule."""

    project: str
    rule_id: int
    position: int
    category: str | None
    tag: str | None
    domain: str | None
    senders: list[str]
    note: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Candidate(Value):
    """An account that could send a mail, by a rule or, with None, by none, and what prevents it."""

    rule_id: int | None
    sender: str
    is_fallback: bool
    blocked_reason: str | None
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class Rate(Value):
    """A rate that all projects share: of a recipient domain, or of all mail.

    `used_up_until` is None where mail may be sent now.
    """

    holds_for: str
    rate_per_second: float
    burst: int
    note: str | None
    used_up_until: datetime | None


@dataclass(frozen=True, slots=True)
class RemovedSender(Value):
    """A sender account that was deleted."""

    removed: str
    """Its name."""
    id: int


@dataclass(frozen=True, slots=True)
class RemovedEndpoint(Value):
    """The URL for a provider's webhook was removed."""

    removed: bool
