"""How a project stands: what it sent, what it may still send, and what became of its mail."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.tenants.model import ProjectDay, ProjectToday
from mailqueue.tenants.projects import store

MAX_DAYS = 90


@dataclass(frozen=True, slots=True)
class ProjectRates:
    """Shares of the mail of some days, 0 to 1; None where nothing was sent."""

    delivery: float | None  # sent, of what was sent or given up
    hard_bounce: float | None
    complaint: float | None


@dataclass(frozen=True, slots=True)
class Standing:
    """A project's today, its last days oldest first, and the shares over those days."""

    today: ProjectToday
    days: list[ProjectDay]
    rates: ProjectRates


async def look(conn: Conn, project_id: UUID, *, days: int) -> Standing:
    """Return how a project stands, over so many days of UTC up to now.

    Raises:
        InvalidField: the days are not 1 to MAX_DAYS.
    """
    if not 1 <= days <= MAX_DAYS:
        raise InvalidField("days", f"must be 1 to {MAX_DAYS}, got {days}")
    found = await store.project_days(conn, project_id, days=days)
    return Standing(await store.project_today(conn, project_id), found, rates_of(found))


def rates_of(days: Sequence[ProjectDay]) -> ProjectRates:
    """Return the shares over some days. Pure.

    A hard bounce may be told by the server at once (then the mail failed) or later in a message.
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
