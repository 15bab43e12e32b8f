"""SQL of occurrences: when schedules run, and the runs that are begun."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.db import arrays, fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.statements import schedules as sql
from mailqueue.schedules.model import AskedOccurrence, Clock, Fire, Occurrence, Recurrence


class PlacedOccurrence(NamedTuple):
    """An occurrence, and the place from 1 of who asked for it."""

    place: int
    local: datetime
    at: datetime


class FiredSchedule(NamedTuple):
    """What became of the occurrence of a schedule: run, repeated, behind or skipped."""

    id: UUID
    outcome: str
    reason: str | None
    """Why its project accepts no mail now."""


class Unplanned(NamedTuple):
    """A schedule whose next occurrence is to be computed."""

    id: UUID
    schedule_type: str
    cron_expression: str
    time_zone: str
    plan_after: datetime

    @property
    def recurrence(self) -> Recurrence:
        """Return when it runs."""
        return Recurrence(self.cron_expression, self.time_zone, self.schedule_type == "local")


async def clock(conn: Conn) -> datetime:
    """Return the time of the database."""
    return await fetch.value(conn, sql.SCHEDULE_TIME, None, datetime)


async def clocks(conn: Conn, wanted: Sequence[AskedOccurrence]) -> list[Clock]:
    """Return what the clock of each recurrence shows at its instant."""
    return await fetch.many(conn, sql.SCHEDULE_CLOCKS, _kinds(wanted), Clock)


async def first_occurrences(
    conn: Conn, candidates: Sequence[tuple[int, datetime]], wanted: Sequence[AskedOccurrence]
) -> dict[int, Occurrence]:
    """Return the first occurrence after its instant, by place, among times of each."""
    values = _kinds(wanted) | {
        "places": arrays.integers([place for place, _ in candidates]),
        "locals": arrays.texts([local.isoformat() for _, local in candidates]),
    }
    found = await fetch.many(conn, sql.FIRST_OCCURRENCES, values, PlacedOccurrence)
    return {one.place: Occurrence(one.local, one.at) for one in found}


async def occurrences_between(
    conn: Conn, rule: Recurrence, locals_: Sequence[datetime], *, until: datetime
) -> list[Occurrence]:
    """Return occurrences up to an instant, in order, among times of a recurrence."""
    values = {
        "locals": arrays.texts([local.isoformat() for local in locals_]),
        "zone": rule.zone,
        "kind": rule.kind,
        "until": until,
    }
    return await fetch.many(conn, sql.OCCURRENCES_UNTIL, values, Occurrence)


async def fire(conn: Conn, fires: Sequence[tuple[UUID, Occurrence]]) -> dict[UUID, FiredSchedule]:
    """Begin the runs of schedules; return what became of each."""
    values = {
        "ids": arrays.uuids([schedule_id for schedule_id, _ in fires]),
        "occurrences": arrays.texts([one.at.isoformat() for _, one in fires]),
        "locals": arrays.texts([one.local.isoformat() for _, one in fires]),
    }
    found = await fetch.many(conn, sql.FIRE_SCHEDULES, values, FiredSchedule)
    return {one.id: one for one in found}


async def zone_release(conn: Conn) -> str:
    """Return the version of the rules of time zones."""
    return await fetch.value(conn, sql.SCHEDULE_ZONE_RELEASE, None, str)


async def unplanned(conn: Conn, schedule_id: UUID) -> Unplanned | None:
    """Return a schedule whose next occurrence is to be computed; None: it is known."""
    return await fetch.maybe(conn, sql.FIND_UNPLANNED_SCHEDULE, {"id": schedule_id}, Unplanned)


async def plan(
    conn: Conn, schedule_id: UUID, *, after: datetime, following: Occurrence | None
) -> None:
    """Write the next occurrence of a schedule."""
    values = {
        "id": schedule_id,
        "after": after,
        "next": None if following is None else following.at,
        "local": None if following is None else following.local,
    }
    await fetch.run(conn, sql.PLAN_SCHEDULE, values)


async def replan(conn: Conn, *, limit: int) -> int:
    """Have occurrences computed again that older rules of time zones gave; return how many."""
    return await fetch.value(conn, sql.REPLAN_SCHEDULES, {"limit": limit}, int)


def values_of(fire_: Fire, *, release: str, run_count: int | None) -> dict[str, Any]:
    """Return the columns of a schedule that its outcome writes. Pure.

    `run_count` None: no run has begun.
    """
    values: dict[str, Any] = {
        "next_run_at": None,
        "next_local": None,
        "plan_after": None,
        "zone_release": release,
    }
    if fire_.following is not None:
        values["next_run_at"] = fire_.following.at.isoformat()
        values["next_local"] = fire_.following.local.isoformat()
    if fire_.missed is not None:
        values["last_missed_at"] = fire_.missed.isoformat()
    if fire_.occurrence is not None and run_count is not None:
        values["last_run_at"] = fire_.occurrence.at.isoformat()
        values["run_count"] = run_count
    return values


def _kinds(wanted: Sequence[AskedOccurrence]) -> dict[str, object]:
    return {
        "afters": arrays.texts([after.isoformat() for _, after in wanted]),
        "zones": arrays.texts([rule.zone for rule, _ in wanted]),
        "kinds": arrays.texts([rule.kind for rule, _ in wanted]),
    }
