"""Values: projects and API keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from uuid import UUID, uuid5

from mailqueue.core.secret import Secret


@dataclass(frozen=True, slots=True)
class Project:
    """A project (tenant) and its settings; None means not set."""

    id: UUID
    name: str
    display_name: str | None
    description: str | None
    status: str  # active, paused, suspended, deleted
    status_reason: str | None
    status_until: datetime | None  # end of a pause; None: until it is resumed
    suspended_at: datetime | None
    deleted_at: datetime | None
    from_email: str | None
    from_name: str | None
    reply_to: str | None
    bounce_address: str | None
    bounce_domain: str | None  # mail to this domain is delivered here: return paths are signed
    allowed_from: list[str] | None  # addresses, domains and *.domains; None: any
    attachment_types: list[str]
    attachment_bytes: int  # total size of the attachments of a mail
    daily_limit: int | None  # recipients per day in its time zone
    rate_per_second: float | None  # recipients
    burst: int  # recipients that may be sent at once, beyond the rate
    weight: int  # share compared with other projects; 100 is the default
    soft_bounce_limit: int  # number of soft bounces that suppress an address; 0: never
    soft_bounce_days: int  # in which they are counted
    time_zone: str
    postal_address: str | None
    delivery: str | None  # resend or hold, if the mail names neither; None: as its category
    resend_elsewhere: bool  # mail in doubt may be sent again by another account
    requests_per_second: int | None  # of all its keys together; None: only each key is limited
    track_opens: bool  # default for mail that does not set it
    track_clicks: bool
    tracking_domain: str | None  # host of the links in its mail; None: the public URL
    tracking_checked_at: datetime | None  # last time DNS led here; None: links do not use it yet
    brand_color: str | None  # of its public pages, #rrggbb; None: the default
    logo: UUID | None  # picture of templates at the top of its public pages; None: none
    page_texts: Mapping[str, Mapping[str, str]] | None  # by language and name; None in lists, too
    max_queued_emails: int | None  # None: no bound; so are the following
    max_stored_bytes: int | None
    max_uploads: int | None
    max_templates: int | None
    max_events: int | None
    max_contacts: int | None
    max_age_hours_critical: int | None
    max_age_hours_high: int | None
    max_age_hours_normal: int | None
    max_age_hours_low: int | None
    require_postal_address: bool
    unsubscribe_on_all: bool
    low_priority_window: str | None  # such as 22:00-06:00 Europe/Berlin; None: any time of day
    quiet_hours: str | None  # such as 21:00-08:00, of each recipient; None: none
    frequency_cap: str | None  # marketing mails to a recipient, such as 3/7d; None: any number
    outbox_duplicates: str  # error or skip: a second INSERT of an id into view outboxes
    ordering: str | None  # project, outboxes or custom_data.NAME; None: no order
    ordering_on_failure: str  # continue or block
    management_events: str | None  # who may send them, such as sql,rabbitmq; None: nobody
    notices_to: str | None  # address of administrators; None: notices are not mailed
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ProjectToday:
    """What a project sent today and may still send; limits count recipients, the queue mails."""

    day: date  # in its time zone
    daily_limit: int | None
    sent: int
    reserved: int  # claimed and not settled yet
    headroom: int | None  # None: no limit
    rate_per_second: float | None
    bounces: int
    errors: int
    blocked_reason: str | None
    blocked_until: datetime | None  # None: not blocked, or without end
    next_day_at: datetime
    pending: int
    assigned: int
    held: int


@dataclass(frozen=True, slots=True)
class ProjectDay:
    """Results of a project's mail on one day (UTC); `accepted` counts by day of acceptance."""

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
    """An API key without its secret."""

    id: UUID
    name: str
    hint: str
    is_test: bool
    scopes: list[str]
    requests_per_second: int | None  # None: the default of the installation
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    rotated_at: datetime | None  # replaced by a new key; it is valid until expires_at
    revoked_at: datetime | None
    revoked_reason: str | None
    revoked_by: str | None  # None also where nobody recorded it
    last_used_at: datetime | None
    last_used_from: str | None  # IP address of the client

    def status(self, now: datetime) -> str:
        """Return the status of the key: active, rotated, expired or revoked."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return "active" if self.rotated_at is None else "rotated"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key; `key` is shown once and not stored."""

    key: Secret
    record: ApiKey


class Scope(StrEnum):
    """Permissions of an API key."""

    EMAIL_SEND = "email:send"
    EMAIL_READ = "email:read"
    TEMPLATE_READ = "template:read"
    TEMPLATE_WRITE = "template:write"
    ANALYTICS_READ = "analytics:read"
    SUPPRESSION_MANAGE = "suppression:manage"
    WEBHOOK_MANAGE = "webhook:manage"
    PROJECT_READ = "project:read"
    PROJECT_WRITE = "project:write"
    CONTACTS_READ = "contacts:read"
    CONTACTS_WRITE = "contacts:write"


EVERY_SCOPE = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller that a valid key authenticates; mail of a test key is sent to `trap_sender`.

    `name` is the key's name. Both rates are in requests per second; None: not limited.
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
        """Return the id of the rate limit bucket: test keys do not use up live keys' requests."""
        return uuid5(self.project_id, "test") if self.is_test else self.project_id


@dataclass(frozen=True, slots=True)
class Admin:
    """An authenticated administrator of the installation; `means` is token or oidc."""

    name: str
    means: str
