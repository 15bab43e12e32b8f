"""Projects and their statistics as callers see them."""

from dataclasses import asdict

from mailqueue.contract.projects import ProjectDetails, ProjectRetention, ProjectStats, SentToday
from mailqueue.projects.model import Project
from mailqueue.projects.stats import ProjectSummary


def details_of(project: Project, retention: list[ProjectRetention] | None = None) -> ProjectDetails:
    """Return a project and its settings."""
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
        logo=project.logo,
        page_texts=project.page_texts,
        max_queued_emails=project.max_queued_emails,
        max_stored_bytes=project.max_stored_bytes,
        max_uploads=project.max_uploads,
        max_templates=project.max_templates,
        max_events=project.max_events,
        max_contacts=project.max_contacts,
        max_age_hours_critical=project.max_age_hours_critical,
        max_age_hours_high=project.max_age_hours_high,
        max_age_hours_normal=project.max_age_hours_normal,
        max_age_hours_low=project.max_age_hours_low,
        require_postal_address=project.require_postal_address,
        unsubscribe_on_all=project.unsubscribe_on_all,
        low_priority_window=project.low_priority_window,
        quiet_hours=project.quiet_hours,
        frequency_cap=project.frequency_cap,
        outbox_duplicates=project.outbox_duplicates,
        ordering=project.ordering,
        ordering_on_failure=project.ordering_on_failure,
        management_events=project.management_events,
        notices_to=project.notices_to,
        retention=retention,
        created_at=project.created_at,
        updated_at=project.updated_at,
    )


def stats_of(summary: ProjectSummary) -> ProjectStats:
    """Return the statistics of a project."""
    days = [asdict(day) for day in summary.days]
    totals = {name: sum(day[name] for day in days) for name in days[0] if name != "day"}
    today = summary.today
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
        delivery_rate=summary.rates.delivery,
        hard_bounce_rate=summary.rates.hard_bounce,
        complaint_rate=summary.rates.complaint,
        days=days,
        bounds=summary.bounds,
    )
