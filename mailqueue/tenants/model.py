"""Projects and the keys of their HTTP API. Values only."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from uuid import UUID, uuid5

from mailqueue.core.secret import Secret


@dataclass(frozen=True, slots=True)
class Project:
    """A tenant, and what holds for all its mail; what is None is not said."""

    id: UUID
    name: str
    display_name: str | None
    description: str | None
    status: str  # active, paused, suspended, deleted
    status_reason: str | None
    status_until: datetime | None  # of a pause; None: until somebody ends it
    suspended_at: datetime | None
    deleted_at: datetime | None
    from_email: str | None
    from_name: str | None
    reply_to: str | None
    bounce_address: str | None
    bounce_domain: str | None  # its mail comes here: return paths are signed
    allowed_from: list[str] | None  # addresses, domains and *.domains; None: any
    attachment_types: list[str]
    attachment_bytes: int  # of all files of a mail
    daily_limit: int | None  # recipients a day of its time zone
    rate_per_second: float | None  # recipients
    burst: int  # how far the rate may be ahead of itself
    weight: int  # turns beside other projects; 100 is usual
    soft_bounce_limit: int  # so many soft bounces of an address suppress it; 0: never
    soft_bounce_days: int  # within so many days
    time_zone: str
    postal_address: str | None
    delivery: str | None  # resend or hold, of mail that says none; None: as its category
    resend_elsewhere: bool  # mail of unknown fate may go by another account the second time
    requests_per_second: int | None  # of all its keys together; None: only each key is bounded
    track_opens: bool  # of mail that does not say
    track_clicks: bool
    tracking_domain: str | None  # links in its mail begin with it; None: with the public URL
    tracking_checked_at: datetime | None  # last found to lead here; None: links do not use it yet
    brand_color: str | None  # of its pages for people, #rrggbb; None: ours
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ProjectToday:
    """What a project sent today and may still send; limits count recipients, the queue mails."""

    day: date  # of its time zone
    daily_limit: int | None
    sent: int
    reserved: int  # claimed, and not settled yet
    headroom: int | None  # None: no limit
    rate_per_second: float | None
    bounces: int
    errors: int
    blocked_reason: str | None
    blocked_until: datetime | None  # None: open, or until somebody acts
    next_day_at: datetime
    pending: int
    assigned: int
    held: int


@dataclass(frozen=True, slots=True)
class ProjectDay:
    """What became of a project's mail on one day of UTC; `accepted` by day of acceptance."""

    day: date
    accepted: int
    sent: int
    failed: int
    suppressed: int
    expired: int
    cancelled: int
    delivered: int
    hard_bounces: int
    soft_bounces: int
    complaints: int
    opened: int
    clicked: int
    unsubscribed: int


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it may be shown: everything but the key."""

    id: UUID
    name: str
    hint: str
    is_test: bool
    scopes: list[str]
    requests_per_second: int | None  # None: as the installation says for every key
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    rotated_at: datetime | None  # another took its name; it ends at expires_at
    revoked_at: datetime | None
    revoked_reason: str | None
    last_used_at: datetime | None
    last_used_from: str | None  # the address of the client

    def status(self, now: datetime) -> str:
        """Return in a word whether it is in force."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return "active" if self.rotated_at is None else "rotated"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key; `key` is shown once and cannot be found again."""

    key: Secret
    record: ApiKey


class Scope(StrEnum):
    """What a key may be allowed to do."""

    EMAIL_SEND = "email:send"
    EMAIL_READ = "email:read"
    TEMPLATE_READ = "template:read"
    TEMPLATE_WRITE = "template:write"
    ANALYTICS_READ = "analytics:read"
    SUPPRESSION_MANAGE = "suppression:manage"
    WEBHOOK_MANAGE = "webhook:manage"
    PROJECT_READ = "project:read"
    PROJECT_WRITE = "project:write"


EVERY_SCOPE = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a valid key speaks for; `trap_sender` is where mail of a test key goes.

    `name` is the key's own. Both rates are of requests; None: as many as it likes.
    """

    id: UUID
    project_id: UUID
    project: str
    is_test: bool
    trap_sender: str | None
    name: str = ""
    scopes: frozenset[str] = EVERY_SCOPE
    requests_per_second: float | None = None
    project_requests_per_second: float | None = None

    @property
    def project_bucket(self) -> UUID:
        """Return what its project's requests are counted by: test keys use up no live key's."""
        return uuid5(self.project_id, "test") if self.is_test else self.project_id


@dataclass(frozen=True, slots=True)
class Admin:
    """Who administers the installation; `means` says how that is known: token or oidc."""

    name: str
    means: str
