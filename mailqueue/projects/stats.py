"""Statistics of a project: sent mail, headroom, results by day."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from mailqueue.contract.projects import BoundUsage
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects import store
from mailqueue.projects.model import ProjectDay, ProjectToday

MAX_DAYS = 90


@dataclass(frozen=True, slots=True)
class ProjectRates:
    """Shares of the mail of some days, 0 to 1; None where nothing was sent."""

    delivery: float | None  # sent mail as a share of sent and failed mail
    hard_bounce: float | None
    complaint: float | None


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    """Today's counts of a project, its last days, oldest first, and their rates, and its bounds."""

    today: ProjectToday
    days: list[ProjectDay]
    rates: ProjectRates
    bounds: list[BoundUsage]


async def look(conn: Conn, project_id: UUID, *, days: int) -> ProjectSummary:
    """Return the statistics of a project over the last `days` days (UTC).

    Raises:
        InvalidField: `days` is not 1 to MAX_DAYS.
    """
    if not 1 <= days <= MAX_DAYS:
        raise InvalidField("days", f"must be 1 to {MAX_DAYS}, got {days}")
    found = await store.project_days(conn, project_id, days=days)
    return ProjectSummary(
        await store.project_today(conn, project_id),
        found,
        rates_of(found),
        await store.project_bounds(conn, project_id),
    )


async def bounds(conn: Conn, project_id: UUID | None) -> list[BoundUsage]:
    """Return what a project, or (None) each that is not deleted, uses of its bounds now."""
    return await store.project_bounds(conn, project_id)


def rates_of(days: Sequence[ProjectDay]) -> ProjectRates:
    """Return the rates over some days. Pure.

    A hard bounce is reported at once, when the mail fails, or later, in a bounce message.
    """
    sent = sum(day.sent for day in days)
    tried = sent + sum(day.failed for day in days)
    bounced = sum(day.hard_bounces for day in days)
    complained = sum(day.complaints for day in days)
    return ProjectRates(
        delivery=_share(sent, tried),
        hard_bounce=_share(min(bounced, tried), tried),
        complaint=_share(min(complained, sent), sent),
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None
