"""Projects in the API of administrators, and the setting of each field. Values only."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from mailqueue.api.emails.schema import Instant, StorableText
from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import RequestModel, StrictRequestModel
from mailqueue.audit.model import AuditSearch
from mailqueue.projects import manage as projects_manage
from mailqueue.projects.stats import MAX_DAYS

# Settings whose name in the API differs from the database's.
SETTING_BY_FIELD: Mapping[str, str] = {
    "name": "display_name",
    "timezone": "time_zone",
    "daily_send_limit": "daily_limit",
    "rate_limit_per_sec": "rate_per_second",
    "max_attachment_bytes": "attachment_bytes",
    "allowed_mime_types": "attachment_types",
    "requests_per_sec": "requests_per_second",
}
FIELD_BY_SETTING = {setting: field for field, setting in SETTING_BY_FIELD.items()} | {
    "project": "slug"
}
RetainedKind = Annotated[str, Field(pattern="^[a-z_]{1,40}$")]
Days = Annotated[int, Field(ge=1, le=36_500)]
Hours = Annotated[int, Field(ge=1, le=87_600)]
Bound = Annotated[int, Field(ge=0, le=9_007_199_254_740_991)]


class Keep(StrictRequestModel):
    """Retention of one kind of record: first in the database, then in the archive."""

    hot_days: Days
    """Days for which records stay in the database."""
    warm_days: Days | None = None
    """Age in days at which archive files move to the cold store; never if omitted."""
    keep_days: Days | None = None
    """Age in days at which records are deleted; never if omitted. If it equals `hot_days`, nothing
    is archived.
    """


class ProjectSettings(StrictRequestModel):
    """Settings of all mail of a project; null resets one."""

    name: str | None = None
    """Display name, such as The Shop; null is its slug."""
    description: str | None = None
    """Description."""
    from_name: str | None = None
    """Default name beside the From address."""
    from_email: str | None = None
    """Default From address, for emails and sender accounts that name none."""
    reply_to: str | None = None
    """Default Reply-To."""
    bounce_address: str | None = None
    """Address for bounces (the envelope sender); null is the From address."""
    bounce_domain: str | None = None
    """Domain whose mail reaches the bounce listener, such as `bounces.example.com`. Mail sent by
    SMTP then has a signed return path there, instead of `bounce_address`.
    """
    notices_to: str | None = None
    """Address to which notices of complaints and of too many bounces are mailed, at most one email
    per hour for each cause; null is none.
    """
    timezone: str | None = None
    """Time zone of daily limits, such as `Asia/Kolkata`; null is UTC."""
    daily_send_limit: Annotated[int, Field(ge=0, le=2_147_483_647)] | None = None
    """Recipients per day; null is no limit."""
    rate_limit_per_sec: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """Recipients per second; null is no limit."""
    burst: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Recipients that may be sent at once above the rate; null is 200."""
    weight: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Weight relative to other projects: 300 gets three times the turns of 100; null is 100."""
    soft_bounce_limit: Annotated[int, Field(ge=0, le=1000)] | None = None
    """Soft bounces after which an address is suppressed; 0 is never, null is 5."""
    soft_bounce_days: Annotated[int, Field(ge=1, le=365)] | None = None
    """Days for which soft bounces are counted; null is 30."""
    max_attachment_bytes: Annotated[int, Field(ge=0, le=26_214_400)] | None = None
    """Total size of all attachments of one email, in bytes; null is 4 MiB (4194304)."""
    allowed_mime_types: Annotated[list[str], Field(max_length=200)] | None = None
    """Content types of attachments, such as `application/pdf`; null is PDF, GIF, JPEG, PNG and
    WebP.
    """
    allowed_from: Annotated[list[str], Field(max_length=200)] | None = None
    """Allowed From addresses: addresses, domains, and `*.domain` for subdomains; null is any."""
    postal_address: str | None = None
    """Postal address in the footer of marketing mail, such as `1 High Street, Oxford`."""
    delivery: str | None = None
    """`resend` or `hold`: what to do with an email if it is unknown whether the server accepted it;
    null is by category.
    """
    resend_elsewhere: bool | None = None
    """Whether such an email may be sent again by another sender account; null is false: only by the
    one that sent it.
    """
    requests_per_sec: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Requests per second of all its keys together; null: only each key is limited."""
    track_opens: bool | None = None
    """Track opens, unless an email sets it; null is false."""
    track_clicks: bool | None = None
    """Track clicks, unless an email sets it; null is false."""
    tracking_domain: str | None = None
    """Host of the links in its mail, such as `links.example.com`, used once its DNS leads here;
    null is the address of this installation.
    """
    brand_color: str | None = None
    """Colour of the unsubscribe pages, such as `#0b6e4f`; null is the default."""
    logo: str | None = None
    """Id of the picture of templates at the top of the unsubscribe pages; null is none."""
    page_texts: dict[str, dict[str, str] | None] | None = None
    """Own texts of the unsubscribe pages, by language and name, such as
    `{"en": {"intro": "Choose what we may send you."}}`. Languages that it does not name stay; null
    for a language, or for all, is the built-in texts.
    """
    max_queued_emails: Bound | None = None
    """Emails in the queue; further ones are refused. Null is no bound."""
    max_stored_bytes: Bound | None = None
    """Stored bytes of subjects, bodies and files. Null is no bound."""
    max_uploads: Bound | None = None
    """Stored files, uploads and attachments. Null is no bound."""
    max_templates: Bound | None = None
    """Templates. Null is no bound."""
    max_events: Bound | None = None
    """Stored events; further opens and clicks are not stored. Null is no bound."""
    max_contacts: Bound | None = None
    """Contacts; null is no bound."""
    max_age_hours_critical: Hours | None = None
    """Hours after which critical emails expire that name no time; null is 1."""
    max_age_hours_high: Hours | None = None
    """Hours after which emails of high priority expire that name no time; null is 4."""
    max_age_hours_normal: Hours | None = None
    """Hours after which emails of normal priority expire that name no time; null is 24."""
    max_age_hours_low: Hours | None = None
    """Hours after which emails of low priority expire that name no time; null is 72."""
    require_postal_address: bool | None = None
    """Whether marketing is rejected while there is no `postal_address`; null is true."""
    unsubscribe_on_all: bool | None = None
    """Whether emails of every category have unsubscribe headers that do not say otherwise; null is
    false: marketing only.
    """
    low_priority_window: Annotated[str, Field(max_length=100)] | None = None
    """Time of day at which emails of low priority are sent, such as `22:00-06:00 Europe/Berlin`, or
    `22:00-06:00` in `timezone`; null is any time.
    """
    quiet_hours: Annotated[str, Field(max_length=100)] | None = None
    """Time of day at which no marketing is sent, such as `21:00-08:00`, in the time zone of the
    contact, else in `timezone`; held back emails are sent when it ends. Null is none.
    """
    frequency_cap: Annotated[str, Field(max_length=100)] | None = None
    """Marketing emails that each recipient gets in a number of days, such as `3/7d`: at most 100
    in at most 366 days; more are sent as soon as it allows. Null is any number.
    """
    outbox_duplicates: str | None = None
    """Second `INSERT` of an id into view `outboxes`: `error` raises SQLSTATE 23505, `skip` gives no
    row; null is `error`.
    """
    ordering: Annotated[str, Field(max_length=100)] | None = None
    """What emails have in common that go in the order in which they were inserted: `project`,
    `outboxes` or `custom_data.NAME`; null is no order.
    """
    ordering_on_failure: str | None = None
    """When an ordered email fails or expires: `continue` with the next one, or `block`; null is
    `continue`.
    """
    management_events: Annotated[str, Field(max_length=100)] | None = None
    """By which ways events may archive and resend emails: `sql`, `api` and `rabbitmq`, separated by
    commas; null is none.
    """
    retention: Annotated[dict[RetainedKind, Keep | None], Field(max_length=20)] | None = None
    """Retention by kind of record, such as `email_history`; null for a kind resets it."""

    def settings(self) -> dict[str, Any]:
        """Return the given settings, under the names of `projects.change`."""
        said = self.model_fields_set - {"slug", "retention"}
        return {SETTING_BY_FIELD.get(name, name): getattr(self, name) for name in sorted(said)}


class NewProject(ProjectSettings):
    """A project to create; `slug` identifies it and cannot be changed."""

    slug: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]{0,62}$")]
    """Lower-case letters, digits, `-` and `_`, at most 63, such as `shop`; it cannot be changed."""


class Suspension(StrictRequestModel):
    """Reason for suspending a project."""

    reason: Annotated[str, Field(min_length=1, max_length=500)]
    """Reason, shown by `mailqueue why` and in the audit log."""


class ProjectsQuery(PageQuery):
    """Filters of projects; deleted ones are listed only on request."""

    q: Annotated[str, Field(max_length=200)] | None = None
    """Filter by text in slug, name, description or From."""
    status: Annotated[str, Field(pattern=f"^({'|'.join(projects_manage.STATUSES)})$")] | None = None
    """Filter by status: active, paused, suspended or deleted; all but deleted if omitted."""


class StatsQuery(RequestModel):
    """Number of days, today included."""

    days: Annotated[int, Field(ge=1, le=MAX_DAYS)] = 7
    """Number of days, today included."""


class AuditQuery(PageQuery):
    """Filters of audit events."""

    action: Annotated[str, Field(max_length=100)] | None = None
    """Filter by action, such as `api_key.revoked`, or by the word before or after its point."""
    actor: Annotated[StorableText, Field(min_length=1, max_length=200)] | None = None
    """Filter by a part of the actor, in any case."""
    subject: Annotated[StorableText, Field(min_length=1, max_length=400)] | None = None
    """Filter by a part of the subject, such as `api key web`, in any case."""
    since: Instant | None = None
    """Start of the period, RFC 3339 with offset."""
    until: Instant | None = None
    """End of the period, exclusive, RFC 3339 with offset."""

    def search(self, project_id: UUID | None) -> AuditSearch:
        """Return the search of a project; None: of all projects and the installation."""
        return AuditSearch(
            project_id, self.action, self.actor, self.subject, self.since, self.until
        )
