"""The calendar of a project: what its schedules, timed events and sequences do next, by day."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.operations.store import calendar as store
from mailqueue.schedules import planning
from mailqueue.schedules.model import Recurrence

MAX_SCHEDULES = 100
"""Schedules whose times are computed, those that run soonest."""
MAX_ROWS = 10_000
"""Timed events, and enrollments, that are counted, those that are due soonest."""
_INSTANT = timedelta(microseconds=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class PlannedEntry:
    """What is done in a day, once or several times.

    `kind` is schedule, timed_event or sequence. `rule` is the cron expression and time zone of a
    schedule that recurs, or the step of a sequence. `count` is how many events or contacts; None
    for a schedule, which has `id`.
    """

    at: datetime
    """The first time in that day."""
    kind: str
    name: str
    rule: str = ""
    count: int | None = None
    id: UUID | None = None


@dataclass(frozen=True, slots=True)
class PlannedDay:
    """A day in UTC, with what is done in it in order."""

    day: date
    entries: tuple[PlannedEntry, ...]


@dataclass(frozen=True, slots=True)
class ProjectCalendar:
    """The next days of a project; not `is_complete`: there is more than was read."""

    days: tuple[PlannedDay, ...]
    is_complete: bool


async def upcoming(conn: Conn, project_id: UUID, *, now: datetime, days: int) -> ProjectCalendar:
    """Return what a project will do in a number of days, from that of `now` in UTC."""
    until = _begin_of(now) + days * _DAY
    planned = await store.schedules(conn, project_id, until=until, limit=MAX_SCHEDULES + 1)
    mail = await store.mail(conn, project_id, until=until, most=MAX_ROWS)
    found = await _recurring(conn, planned[:MAX_SCHEDULES], until)
    found += [
        PlannedEntry(one.first_at, one.kind, one.name, one.step or "", one.entries) for one in mail
    ]
    by_day: dict[date, list[PlannedEntry]] = {}
    for entry in sorted(found, key=lambda entry: (entry.at, entry.kind, entry.name)):
        by_day.setdefault(max(entry.at, now).date(), []).append(entry)
    rows = {kind: sum(one.entries for one in mail if one.kind == kind) for kind in KINDS}
    return ProjectCalendar(
        tuple(PlannedDay(day, tuple(entries)) for day, entries in sorted(by_day.items())),
        len(planned) <= MAX_SCHEDULES and max(rows.values()) < MAX_ROWS,
    )


KINDS = ("timed_event", "sequence")
"""Kinds of entries that are counted."""


async def _recurring(
    conn: Conn, planned: list[store.PlannedSchedule], until: datetime
) -> list[PlannedEntry]:
    """Return the first time of each schedule in each day."""
    found, waiting = list[PlannedEntry](), [(one, one.next_run_at) for one in planned]
    while waiting:
        found += [_entry(one, at) for one, at in waiting]
        again = [
            (one, _begin_of(at) + _DAY - _INSTANT) for one, at in waiting if one.cron_expression
        ]
        following = await planning.following(conn, [(_rule(one), after) for one, after in again])
        waiting = [
            (one, then.at)
            for (one, _), then in zip(again, following, strict=True)
            if then is not None and then.at < until and (not one.ends_at or then.at <= one.ends_at)
        ]
    return found


def _entry(one: store.PlannedSchedule, at: datetime) -> PlannedEntry:
    name = one.name or one.subject or one.template or str(one.id)
    rule = f"{one.cron_expression}, {one.time_zone}" if one.cron_expression else ""
    return PlannedEntry(at, "schedule", name, rule, id=one.id)


def _rule(one: store.PlannedSchedule) -> Recurrence:
    return Recurrence(one.cron_expression or "", one.time_zone, one.schedule_type == "local")


def _begin_of(at: datetime) -> datetime:
    """Return the begin in UTC of the day of an instant in UTC. Pure."""
    return datetime.combine(at.date(), time(), at.tzinfo)
