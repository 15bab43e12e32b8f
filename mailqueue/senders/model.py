"""Values of sender accounts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from math import ceil
from typing import Any, Final
from uuid import UUID

from mailqueue.core.address import Address, Mailbox
from mailqueue.core.providers import Provider
from mailqueue.core.secret import Secret


class Tls(StrEnum):
    """When the connection is encrypted."""

    NONE = "none"
    STARTTLS = "starttls"  # after the greeting; refused if the server does not offer it
    IMPLICIT = "implicit"  # from the first byte


class SenderStatus(StrEnum):
    """Whether an account may send at all; its limits decide when."""

    ACTIVE = "active"
    PAUSED = "paused"  # by an operator
    SUSPENDED = "suspended"  # automatically, after its server refused the account itself


@dataclass(frozen=True, slots=True)
class Limits:
    """How much and how fast an account sends; None means no limit."""

    daily_limit: int | None = None  # recipients
    hourly_limit: int | None = None  # recipients in any 60 minutes
    minute_limit: int | None = None  # recipients in any 60 seconds
    rate_per_second: float | None = None  # recipients
    burst: int | None = None  # recipients in one second beyond the rate; None: as many as the rate
    batch_size: int = 200  # mails in one claim
    send_delay_ms: int = 0
    max_connections: int = 4  # per worker process
    time_zone: str = "UTC"  # whose midnight begins the day of the daily limit
    warm_up: tuple[int, ...] | None = None  # recipients on the first day with mail, the second, …


BURST_WITHOUT_RATE = 200
"""Burst that is shown where no rate limits an account, in recipients; it has no effect."""

DEFAULT_WARM_UP = (*(200,) * 2, *(1_000,) * 3, *(5_000,) * 5, *(20_000,) * 5)
"""Daily limits of a new sender during warm-up, in recipients, if no others are named: of days 1 to
2, 3 to 5, 6 to 10 and 11 to 15 of sending."""


class Unchanged(Enum):
    """The type of KEEP: a limit that is left unchanged; None removes a limit."""

    KEEP = "keep"


KEEP: Final = Unchanged.KEEP


@dataclass(frozen=True, slots=True)
class LimitsChange:
    """Limits to set; those that are not named are kept."""

    daily_limit: int | Unchanged | None = KEEP
    hourly_limit: int | Unchanged | None = KEEP
    minute_limit: int | Unchanged | None = KEEP
    rate_per_second: float | Unchanged | None = KEEP
    burst: int | Unchanged | None = KEEP
    batch_size: int | Unchanged = KEEP
    send_delay_ms: int | Unchanged = KEEP
    max_connections: int | Unchanged = KEEP
    time_zone: str | Unchanged = KEEP
    warm_up: tuple[int, ...] | Unchanged | None = KEEP


@dataclass(frozen=True, slots=True)
class NewSender:
    """A requested sender account, not validated yet."""

    name: str
    provider: Provider = Provider.SMTP
    email: str | None = None  # From address of mail that names none
    display_name: str | None = None
    host: str | None = None
    port: int | None = None
    tls: Tls = Tls.STARTTLS
    username: str | None = None  # with an API: the id of the key, or the mailbox
    password: Secret | None = None  # with an API: the key, or a document with several secrets
    api_url: str | None = None  # base URL of the provider's API, if not the default
    settings: Mapping[str, Any] | None = None  # settings of the provider; see `providers`
    is_private_ok: bool = False  # a private or loopback host is intended
    priority: int = 100  # lower is tried first
    is_fallback: bool = False  # used only while no regular account may send
    limits: Limits = field(default_factory=Limits)
    notes: str | None = None


@dataclass(frozen=True, slots=True)
class SenderAccount:
    """A stored sender account; the password is sealed."""

    id: int
    public_id: UUID  # in the HTTP API
    project_id: UUID
    project: str
    name: str
    provider: Provider
    email: str | None
    display_name: str | None
    smtp_host: str | None
    smtp_port: int | None
    smtp_username: str | None
    smtp_password: bytes | None = field(repr=False)
    smtp_tls: Tls
    is_private_ok: bool
    priority: int
    daily_limit: int | None
    rate_per_second: float | None
    burst: int | None
    batch_size: int
    send_delay_ms: int
    max_connections: int
    time_zone: str
    warm_up: tuple[int, ...] | None
    status: SenderStatus
    status_reason: str | None
    status_until: datetime | None
    revision: int
    notes: str | None
    created_at: datetime
    updated_at: datetime
    api_url: str | None = None
    provider_settings: dict[str, Any] | None = None
    is_fallback: bool = False
    hourly_limit: int | None = None
    minute_limit: int | None = None

    def __post_init__(self) -> None:
        # Rows have the database's text; code compares with the enums.
        object.__setattr__(self, "provider", Provider(self.provider))
        object.__setattr__(self, "smtp_tls", Tls(self.smtp_tls))
        object.__setattr__(self, "status", SenderStatus(self.status))
        object.__setattr__(self, "warm_up", None if self.warm_up is None else tuple(self.warm_up))

    @property
    def limits(self) -> Limits:
        """Return the limits of the account."""
        return Limits(
            daily_limit=self.daily_limit,
            hourly_limit=self.hourly_limit,
            minute_limit=self.minute_limit,
            rate_per_second=self.rate_per_second,
            burst=self.burst,
            batch_size=self.batch_size,
            send_delay_ms=self.send_delay_ms,
            max_connections=self.max_connections,
            time_zone=self.time_zone,
            warm_up=self.warm_up,
        )

    @property
    def allowed_burst(self) -> int:
        """Return how many recipients one second may have beyond the rate."""
        if self.burst is not None:
            return self.burst
        return BURST_WITHOUT_RATE if self.rate_per_second is None else ceil(self.rate_per_second)


@dataclass(frozen=True, slots=True)
class Headroom:
    """What an account sent today and may still send, by the database's clock, in recipients.

    `status` is the account's own, `paused_limit_reached` or `warming_up`. `limit_today` is the
    daily limit or that of the stage of warm-up, None where there is neither; `headroom` is what is
    left of it. What is left of the hour and the minute is None without such a limit.
    `blocked_reason` is the reason why nothing may be sent right now.
    """

    sender_account_id: int
    status: str
    daily_sent: int
    daily_reserved: int
    daily_bounces: int
    daily_errors: int
    limit_today: int | None
    headroom: int | None
    warm_up_stage: int | None
    last_reset_at: datetime
    next_reset_at: datetime
    blocked_reason: str | None
    blocked_until: datetime | None
    hourly_headroom: int | None = None
    minute_headroom: int | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SenderHealth:
    """Circuit and failures of an account, by the database's clock.

    `circuit` is `closed`, `open` or `half_open`. `recent_` counts are of the last five minutes, in
    mails, recipient domains and recipients: they decide whether it opens. `failures` counts the
    last hour by class. `last_errors` has the newest first.
    """

    project: str
    sender: str
    provider: str
    status: str
    status_reason: str | None
    circuit: str
    circuit_since: datetime | None
    next_probe_at: datetime | None
    openings: int
    recent_failures: int
    recent_domains: int
    recent_sent: int
    failures: dict[str, int]
    last_errors: list[str]
    last_failed_at: datetime | None
    recommendation: str


@dataclass(frozen=True, slots=True)
class ProjectFrom:
    """A project's default From, Reply-To and bounce domain."""

    from_email: str | None
    from_name: str | None
    reply_to: str | None
    bounce_address: str | None
    bounce_domain: str | None = None


@dataclass(frozen=True, slots=True)
class MailDefaults:
    """Default From and Reply-To of an account's mail, and where bounces go."""

    sender: Mailbox
    reply_to: Mailbox | None = None
    bounce_address: Address | None = None  # None: to the From address
    bounce_domain: str | None = None  # its mail is delivered here: return paths are signed
