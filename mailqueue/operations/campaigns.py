"""The campaigns of a project: what waits, what became of their emails, which are paused."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.analytics import campaigns as analytics_campaigns
from mailqueue.analytics.model import StatsScope, TimeSpan
from mailqueue.contract.counts import EmailCounts
from mailqueue.contract.operations import Pause
from mailqueue.db.fetch import Conn
from mailqueue.operations import pausing
from mailqueue.operations.pausing import PauseKind
from mailqueue.operations.store import campaigns as store

MAX_READ = 100_000
"""Queued emails that are read to count what waits."""


@dataclass(frozen=True, slots=True)
class RecentCampaign:
    """A campaign: emails that wait and are held now, counts of the last days, and its pause."""

    name: str
    queued: int
    held: int
    counts: EmailCounts
    pause: Pause | None


@dataclass(frozen=True, slots=True)
class RecentCampaigns:
    """Campaigns, those with most queued emails first, then those that sent most.

    `as_of`: what happened before is counted. Not `is_complete`: more emails wait than were read.
    """

    data: list[RecentCampaign]
    as_of: datetime
    is_complete: bool


async def recent(
    conn: Conn, project_id: UUID, *, now: datetime, lasts: timedelta
) -> RecentCampaigns:
    """Return campaigns with an email in the last time, or one that waits, or that are paused."""
    counted = await analytics_campaigns.campaigns(
        conn, StatsScope(project_id), TimeSpan(now - lasts, now, "UTC")
    )
    waiting = {row.name: row for row in await store.waiting(conn, project_id, most=MAX_READ)}
    paused = await pausing.list_of(conn, project_id, kind=PauseKind.CAMPAIGN)
    pauses = {pause.name: pause for pause in paused if pause.name}
    found = [
        RecentCampaign(
            name,
            waiting[name].queued if name in waiting else 0,
            waiting[name].held if name in waiting else 0,
            counted.by_name.get(name, EmailCounts()),
            pauses.get(name),
        )
        for name in {*counted.by_name, *waiting, *pauses} - {""}
    ]
    found.sort(key=lambda one: (-one.queued - one.held, -one.counts.sent, one.name))
    read = sum(row.queued + row.held for row in waiting.values())
    return RecentCampaigns(found, counted.as_of, read < MAX_READ)
