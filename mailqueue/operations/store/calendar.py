"""SQL of the calendar of a project."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements.operations import calendar as sql


class PlannedSchedule(NamedTuple):
    """An active schedule and the time of its next run."""

    id: UUID
    name: str | None
    subject: str | None
    template: str | None
    schedule_type: str
    cron_expression: str | None
    time_zone: str
    next_run_at: datetime
    ends_at: datetime | None


class PlannedMail(NamedTuple):
    """Timed events of a kind, or enrollments at a step of a sequence, that are due in a day."""

    kind: str
    name: str
    step: str | None
    first_at: datetime
    entries: int


async def schedules(
    conn: Conn, project_id: UUID, *, until: datetime, limit: int
) -> list[PlannedSchedule]:
    """Return active schedules that run before a time, the soonest first."""
    asked = {"project_id": project_id, "until": until, "limit": limit}
    return await fetch.many(conn, sql.LIST_PLANNED_SCHEDULES, asked, PlannedSchedule)


async def mail(conn: Conn, project_id: UUID, *, until: datetime, most: int) -> list[PlannedMail]:
    """Return timed events and steps of sequences by day, of the soonest `most` rows of each."""
    asked = {"project_id": project_id, "until": until, "most": most}
    return await fetch.many(conn, sql.LIST_PLANNED_MAIL, asked, PlannedMail)
