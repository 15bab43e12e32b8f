"""A project, its statistics, its API keys and its audit log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class ProjectRetention(Value):
    """How long one kind of a project's records is kept, in days."""

    kind: str
    hot_days: int
    warm_days: int | None
    """Null for never moved to cold storage."""
    keep_days: int | None
    """Null for never deleted."""
    is_own: bool


@dataclass(frozen=True, slots=True)
class Retention(ProjectRetention):
    """How long one kind of record is kept: a project's own rule, or the rule of project `all`."""

    project: str


@dataclass(frozen=True, slots=True)
class ChangedRetention(Value):
    """A rule of retention and the one it replaced; null where there was none."""

    before: Retention | None
    after: Retention


@dataclass(frozen=True, slots=True)
class ResetRetention(Value):
    """Whether a project had a rule of its own, which was removed."""

    reset: bool


@dataclass(frozen=True, slots=True)
class ProjectDetails(Value):
    """A project and its settings; null where one is not set, or has no limit."""

    id: UUID
    slug: str
    name: str
    description: str | None
    status: str
    suspended_at: datetime | None
    suspended_reason: str | None
    paused_until: datetime | None
    deleted_at: datetime | None
    from_name: str | None
    from_email: str | None
    reply_to: str | None
    bounce_address: str | None
    bounce_domain: str | None
    timezone: str
    daily_send_limit: int | None
    rate_limit_per_sec: float | None
    burst: int
    weight: int
    soft_bounce_limit: int
    soft_bounce_days: int
    max_attachment_bytes: int
    allowed_mime_types: Sequence[str]
    allowed_from: Sequence[str] | None
    postal_address: str | None
    delivery: str | None
    resend_elsewhere: bool
    requests_per_sec: int | None
    track_opens: bool
    track_clicks: bool
    tracking_domain: str | None
    tracking_domain_verified_at: datetime | None
    brand_color: str | None
    logo: UUID | None
    """Picture at the top of the pages of recipients; null for none."""
    page_texts: Mapping[str, Mapping[str, str]] | None
    """Own texts of the pages of recipients, by language and name; null for none, and in lists of
    projects.
    """
    max_queued_emails: int | None
    max_stored_bytes: int | None
    max_uploads: int | None
    max_templates: int | None
    max_events: int | None
    max_contacts: int | None
    max_age_hours_critical: int | None
    """Hours after which critical emails expire that name no time.

    1 in a new project; null is 96.
    """
    max_age_hours_high: int | None
    """Hours after which emails of high priority expire that name no time.

    4 in a new project; null is 96.
    """
    max_age_hours_normal: int | None
    """Hours after which emails of normal priority expire that name no time.

    24 in a new project; null is 96.
    """
    max_age_hours_low: int | None
    """Hours after which emails of low priority expire that name no time.

    72 in a new project; null is 96.
    """
    require_postal_address: bool
    """Whether marketing is rejected while `postal_address` is null."""
    unsubscribe_on_all: bool
    """Whether emails of every category have unsubscribe headers that do not say otherwise."""
    low_priority_window: str | None
    """Time of day at which emails of low priority are sent, such as `22:00-06:00 Europe/Berlin`;
    null for any time.
    """
    quiet_hours: str | None
    """Time of day at which no marketing is sent, such as `21:00-08:00`, in the time zone of its
    recipient; null for none.
    """
    frequency_cap: str | None
    """Marketing emails that each recipient gets in a number of days, such as `3/7d`; null for any
    number.
    """
    outbox_duplicates: str
    """Second `INSERT` of an id into view `outboxes`: `error` raises SQLSTATE 23505, `skip` gives no
    row.
    """
    ordering: str | None
    """What emails have in common that go in the order in which they were inserted: `project`,
    `outboxes` or `custom_data.NAME`; null for no order.
    """
    ordering_on_failure: str
    """When an ordered email fails or expires: `continue` with the next one, or `block`."""
    management_events: str | None
    """By which ways events may archive and resend emails: `sql`, `api` and `rabbitmq`, separated by
    commas; null for none.
    """
    notices_to: str | None
    """Address to which notices of complaints and of too many bounces are mailed; null for none."""
    retention: Sequence[ProjectRetention] | None
    """Null in lists of projects."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class SentToday(Value):
    """What a project has sent today and may still send, in recipients."""

    day: date
    sent: int
    reserved: int
    """Recipients of emails that are being sent now."""
    daily_send_limit: int | None
    left: int | None
    """Null for no limit."""
    rate_limit_per_sec: float | None
    bounces: int
    errors: int
    blocked_reason: str | None
    blocked_until: datetime | None
    next_day_at: datetime


@dataclass(frozen=True, slots=True)
class BoundUsage(Value):
    """What a project uses of one of its bounds, now."""

    project: str
    bound: str
    """Name of the setting, such as `max_queued_emails`."""
    used: int
    max: int | None
    """Null for no bound."""


@dataclass(frozen=True, slots=True)
class BoundProducer(Value):
    """A PostgreSQL login that may enqueue for some projects only."""

    login: str
    projects: Sequence[str]
    is_known: bool
    """False if the server has no such login."""


@dataclass(frozen=True, slots=True)
class ProjectStats(Value):
    """Statistics of a project; `totals` and the rates are of all days in `days`."""

    today: SentToday
    queue: Mapping[str, int]
    totals: Mapping[str, int]
    delivery_rate: float | None
    hard_bounce_rate: float | None
    complaint_rate: float | None
    days: Sequence[Mapping[str, Any]]
    bounds: Sequence[BoundUsage]


@dataclass(frozen=True, slots=True)
class AuditEvent(Value):
    """One change, and who made it."""

    id: int
    occurred_at: datetime
    project: str | None
    """Null where it concerns the whole installation."""
    actor: str
    action: str
    subject: str
    detail: Any


@dataclass(frozen=True, slots=True)
class CreatedApiKey(Value):
    """A new API key."""

    id: UUID
    key: str | None
    """The key, shown only once; null when the response is repeated for an Idempotency-Key."""
    name: str
    prefix: str
    is_test: bool
    scopes: Sequence[str]
    rate_limit_per_sec: int | None
    expires_at: datetime | None
    warning: str


@dataclass(frozen=True, slots=True)
class ApiKeyDetails(Value):
    """An API key, without the key itself."""

    id: UUID
    name: str
    prefix: str
    status: str
    is_test: bool
    scopes: Sequence[str]
    rate_limit_per_sec: int | None
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    rotated_at: datetime | None
    revoked_at: datetime | None
    revoked_reason: str | None
    revoked_by: str | None
    last_used_at: datetime | None
    last_used_ip: str | None


@dataclass(frozen=True, slots=True)
class VaultStatus(Value):
    """Who holds the key that encrypts a project's secrets, and until when they are unlocked."""

    managed_by: str
    key_id: str | None
    """Hash of the project's own key; null where the platform holds the key."""
    is_locked: bool
    unlocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class RevokedApiKey(Value):
    """An API key that was revoked."""

    name: str
    project: str
    status: str


@dataclass(frozen=True, slots=True)
class RetrySchedule(Value):
    """When temporarily refused emails of a category are retried."""

    category: str | None
    """Null for all categories without a schedule of their own."""
    steps_seconds: Sequence[float]
    """Delays between attempts; the last one repeats."""
    max_attempts: int | None
    """Null for until the email expires."""
    soft_wait_seconds: float | None
    """Delay after a full mailbox; null for that of any other refusal."""
    soft_retries: int
    on_exhausted: str
    """After the last attempt: `fail`, or `hold` until a person decides."""
