"""Projects as administrators write and read them over HTTP. Values, and which setting each is."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import Given, StrictlyGiven
from mailqueue.contract.projects import ProjectDetails, ProjectRetention, ProjectStats, SentToday
from mailqueue.tenants.model import Project
from mailqueue.tenants.projects import manage as projects_manage
from mailqueue.tenants.projects.stats import MAX_DAYS, Standing

# What callers say for settings that have another name in the database.
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
Kind = Annotated[str, Field(pattern="^[a-z_]{1,40}$")]
Days = Annotated[int, Field(ge=1, le=36_500)]


class Keep(StrictlyGiven):
    """For how many days records are kept: hot in the database, then in the archive."""

    hot_days: Days
    """Days for which records stay in the database at least."""
    warm_days: Days | None = None
    """Age in days at which archive files move to the cold place; never if left out."""
    keep_days: Days | None = None
    """Age in days at which records are deleted for good; never if left out. The same as
    `hot_days` means there is no archive.
    """


class ProjectSettings(StrictlyGiven):
    """What holds for all mail of a project; null takes a setting back."""

    name: str | None = None
    """Display name, such as The Shop; null is its slug."""
    description: str | None = None
    """Description."""
    from_name: str | None = None
    """Name beside the From address of mail that names none."""
    from_email: str | None = None
    """From address where neither mail nor sender account names one."""
    reply_to: str | None = None
    """Reply-To of mail that names none."""
    bounce_address: str | None = None
    """Address bounces go to (the envelope sender); null is the From address."""
    bounce_domain: str | None = None
    """Domain whose mail reaches the listener for bounces, such as `bounces.example.com`: mail sent
    by SMTP has a signed return path there, before `bounce_address`.
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
    """Weight relative to other projects: 300 is three times as much as 100; null is 100."""
    soft_bounce_limit: Annotated[int, Field(ge=0, le=1000)] | None = None
    """Soft bounces after which an address is suppressed; 0: never; null is 5."""
    soft_bounce_days: Annotated[int, Field(ge=1, le=365)] | None = None
    """Days for which soft bounces are counted; null is 30."""
    max_attachment_bytes: Annotated[int, Field(ge=0, le=26_214_400)] | None = None
    """Bytes all files of one mail may have together; null is 4 MiB (4194304)."""
    allowed_mime_types: Annotated[list[str], Field(max_length=200)] | None = None
    """Content types files may have, such as `application/pdf`; null is
    PDF, GIF, JPEG, PNG and WebP.
    """
    allowed_from: Annotated[list[str], Field(max_length=200)] | None = None
    """What mail may be from: addresses, domains and `*.domain` for all below; null is any."""
    postal_address: str | None = None
    """For the footer of marketing mail, such as `1 High Street, Oxford`."""
    delivery: str | None = None
    """`resend` or `hold`: what is done with mail nobody knows the fate of; null is by category."""
    resend_elsewhere: bool | None = None
    """Send mail of unknown fate again by another sender account too; null is false: it stays with
    the one it was handed over to.
    """
    requests_per_sec: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Requests a second of all its keys together; null: each key has its own rate only."""
    track_opens: bool | None = None
    """Track opens, unless an email sets it; null is false."""
    track_clicks: bool | None = None
    """Track clicks, unless an email sets it; null is false."""
    tracking_domain: str | None = None
    """Links in its mail begin with it once DNS leads it here, such as `links.example.com`;
    null: with the address of this installation.
    """
    brand_color: str | None = None
    """Colour of the pages where people unsubscribe, such as `#0b6e4f`; null: ours."""
    retention: Annotated[dict[Kind, Keep | None], Field(max_length=20)] | None = None
    """Days records are kept, by kind such as `email_history`; null takes back a kind's rule."""

    def settings(self) -> dict[str, Any]:
        """Return what was said, under the names of `projects.change`."""
        said = self.model_fields_set - {"slug", "retention"}
        return {SETTING_BY_FIELD.get(name, name): getattr(self, name) for name in sorted(said)}


class NewProject(ProjectSettings):
    """A project to be; `slug` is what everything names it by, for ever."""

    slug: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]{0,62}$")]
    """Lower-case letters, digits, `-` and `_`, 63 at most, such as `shop`; it never changes."""


class Suspension(StrictlyGiven):
    """Why a project is suspended."""

    reason: Annotated[str, Field(min_length=1, max_length=500)]
    """Reason, shown by `mailqueue why` and in the audit log."""


class ProjectsQuery(PageQuery):
    """Which projects are listed; deleted ones only where they are asked for."""

    q: Annotated[str, Field(max_length=200)] | None = None
    """Text in slug, name, description or From."""
    status: Annotated[str, Field(pattern=f"^({'|'.join(projects_manage.STATUSES)})$")] | None = None
    """One of active, paused, suspended and deleted; all but deleted ones if left out."""


class StatsQuery(Given):
    """How many days are shown, today included."""

    days: Annotated[int, Field(ge=1, le=MAX_DAYS)] = 7
    """How many days are shown, today included."""


class AuditQuery(PageQuery):
    """Which changes are listed."""

    action: Annotated[str, Field(max_length=100)] | None = None
    """Only changes of this name, as the list shows them."""


def shown(project: Project, retention: list[ProjectRetention] | None = None) -> ProjectDetails:
    """Return a project as administrators see it."""
    return ProjectDetails(
        id=project.id,
        slug=project.name,
        name=project.display_name or project.name,
        description=project.description,
        status=project.status,
        suspended_at=project.suspended_at,
        suspended_reason=project.status_reason,
        paused_until=project.status_until,
        deleted_at=project.deleted_at,
        from_name=project.from_name,
        from_email=project.from_email,
        reply_to=project.reply_to,
        bounce_address=project.bounce_address,
        bounce_domain=project.bounce_domain,
        timezone=project.time_zone,
        daily_send_limit=project.daily_limit,
        rate_limit_per_sec=project.rate_per_second,
        burst=project.burst,
        weight=project.weight,
        soft_bounce_limit=project.soft_bounce_limit,
        soft_bounce_days=project.soft_bounce_days,
        max_attachment_bytes=project.attachment_bytes,
        allowed_mime_types=project.attachment_types,
        allowed_from=project.allowed_from,
        postal_address=project.postal_address,
        delivery=project.delivery,
        resend_elsewhere=project.resend_elsewhere,
        requests_per_sec=project.requests_per_second,
        track_opens=project.track_opens,
        track_clicks=project.track_clicks,
        tracking_domain=project.tracking_domain,
        tracking_domain_verified_at=project.tracking_checked_at,
        brand_color=project.brand_color,
        retention=retention,
        created_at=project.created_at,
        updated_at=project.updated_at,
    )


def shown_stats(standing: Standing) -> ProjectStats:
    """Return how a project stands as administrators see it."""
    days = [asdict(day) for day in standing.days]
    totals = {name: sum(day[name] for day in days) for name in days[0] if name != "day"}
    today = standing.today
    return ProjectStats(
        today=SentToday(
            day=today.day,
            sent=today.sent,
            reserved=today.reserved,
            daily_send_limit=today.daily_limit,
            left=today.headroom,
            rate_limit_per_sec=today.rate_per_second,
            bounces=today.bounces,
            errors=today.errors,
            blocked_reason=today.blocked_reason,
            blocked_until=today.blocked_until,
            next_day_at=today.next_day_at,
        ),
        queue={"pending": today.pending, "assigned": today.assigned, "held": today.held},
        totals=totals,
        delivery_rate=standing.rates.delivery,
        hard_bounce_rate=standing.rates.hard_bounce,
        complaint_rate=standing.rates.complaint,
        days=days,
    )
