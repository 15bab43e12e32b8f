"""SQL of schedules: what people add, change and look at."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.automation.schedules import (
    Schedule,
    ScheduleEstimate,
    ScheduleRun,
    ScheduleRunRecipient,
)
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements import schedules as sql


class CancelledSchedule(NamedTuple):
    """The state of a schedule after its cancellation, and what its last run has queued.

    `cancelled`: emails whose time had not come; None: so many that workers cancel them.
    """

    state: str
    run_number: int | None
    queued: int | None
    cancelled: int | None


class BegunRun(NamedTuple):
    """The state of a schedule, and the run that was begun; None: it does not allow one."""

    state: str
    run_id: UUID | None


class SkippedOccurrence(NamedTuple):
    """The state of a schedule, and the occurrence that is left out."""

    state: str
    skipped: datetime | None


async def add(
    conn: Conn, project_id: UUID, name: str | None, given: Mapping[str, Any], *, by: str
) -> UUID | None:
    """Add a schedule; None where the project has an unfinished one of that name.

    Raises:
        InvalidField: a field is invalid.
    """
    values = {"project_id": project_id, "name": name, "given": Jsonb(given), "by": by}
    with refusals(otherwise="payload"):
        return await fetch.maybe(conn, sql.ADD_SCHEDULE, values, UUID)


async def change(
    conn: Conn, project_id: UUID, schedule_id: UUID, given: Mapping[str, Any], *, by: str
) -> str:
    """Replace what a schedule does; return changed, missing, or the state that forbids it.

    Raises:
        InvalidField: a field is invalid.
    """
    values = {"project_id": project_id, "id": schedule_id, "given": Jsonb(given), "by": by}
    with refusals(otherwise="payload"):
        return await fetch.value(conn, sql.CHANGE_SCHEDULE, values, str)


async def pause(conn: Conn, project_id: UUID, schedule_id: UUID, *, by: str) -> str:
    """Pause a schedule; return its state, or missing."""
    return await fetch.value(conn, sql.PAUSE_SCHEDULE, _acted(project_id, schedule_id, by), str)


async def resume(conn: Conn, project_id: UUID, schedule_id: UUID, *, by: str) -> str:
    """Resume a schedule; return its state, or missing."""
    return await fetch.value(conn, sql.RESUME_SCHEDULE, _acted(project_id, schedule_id, by), str)


async def cancel(conn: Conn, project_id: UUID, schedule_id: UUID, *, by: str) -> CancelledSchedule:
    """Cancel what a schedule would still do."""
    asked = _acted(project_id, schedule_id, by)
    return await fetch.one(conn, sql.CANCEL_SCHEDULE, asked, CancelledSchedule)


async def count_ahead(conn: Conn, project_id: UUID, schedule_id: UUID) -> int | None:
    """Return how many emails of a schedule wait for their time; None without such a schedule."""
    asked = {"project_id": project_id, "id": schedule_id}
    return await fetch.maybe(conn, sql.COUNT_SCHEDULE_MAIL_AHEAD, asked, int)


async def run(conn: Conn, project_id: UUID, schedule_id: UUID, *, by: str) -> BegunRun:
    """Begin a run beside the occurrences of a schedule."""
    return await fetch.one(conn, sql.RUN_SCHEDULE, _acted(project_id, schedule_id, by), BegunRun)


async def skip(conn: Conn, project_id: UUID, schedule_id: UUID, *, by: str) -> SkippedOccurrence:
    """Leave the next occurrence of a schedule out."""
    asked = _acted(project_id, schedule_id, by)
    return await fetch.one(conn, sql.SKIP_SCHEDULE, asked, SkippedOccurrence)


async def named(conn: Conn, project_id: UUID, name: str) -> UUID | None:
    """Return the id of the schedule of that id or name; None where there is none."""
    return await fetch.maybe(
        conn, sql.SCHEDULE_NAMED, {"project_id": project_id, "name": name}, UUID
    )


async def list_(
    conn: Conn,
    project_id: UUID,
    *,
    schedule_id: UUID | None = None,
    status: str | None = None,
    before: UUID | None = None,
    limit: int = 1,
) -> list[Schedule]:
    """Return schedules of a project, newest first, or the one of an id."""
    asked = {
        "project_id": project_id,
        "id": schedule_id,
        "status": status,
        "before": before,
        "limit": limit,
    }
    return await fetch.many(conn, sql.LIST_SCHEDULES, asked, Schedule)


async def runs(
    conn: Conn,
    project_id: UUID,
    schedule_id: UUID,
    *,
    number: int | None = None,
    run_id: UUID | None = None,
    before: int | None = None,
    limit: int = 1,
) -> list[ScheduleRun]:
    """Return runs of a schedule, newest first, or the one of a number or an id."""
    asked = {
        "project_id": project_id,
        "schedule_id": schedule_id,
        "number": number,
        "run_id": run_id,
        "before": before,
        "limit": limit,
    }
    return await fetch.many(conn, sql.LIST_SCHEDULE_RUNS, asked, ScheduleRun)


async def recipients(
    conn: Conn, project_id: UUID, run_id: UUID, *, after: str | None, limit: int
) -> list[ScheduleRunRecipient]:
    """Return recipients of a run that was made in parts, by address."""
    asked = {"project_id": project_id, "run_id": run_id, "after": after, "limit": limit}
    return await fetch.many(conn, sql.LIST_SCHEDULE_RECIPIENTS, asked, ScheduleRunRecipient)


async def estimate(conn: Conn, project_id: UUID, schedule_id: UUID) -> ScheduleEstimate | None:
    """Return what a run would come to now; None where there is no such schedule."""
    asked = {"project_id": project_id, "id": schedule_id}
    return await fetch.maybe(conn, sql.ESTIMATE_SCHEDULE, asked, ScheduleEstimate)


def _acted(project_id: UUID, schedule_id: UUID, by: str) -> dict[str, object]:
    return {"project_id": project_id, "id": schedule_id, "by": by}
