"""Schedules: list, add, change, pause, resume, cancel, run, skip, preview."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from mailqueue.contract.automation.schedules import (
    CancelledRun,
    NextRun,
    NextRuns,
    Schedule,
    ScheduleEstimate,
    ScheduleRun,
    ScheduleRunRecipient,
    SkippedRun,
)
from mailqueue.contract.page import Page
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.core.paging import cursor_of
from mailqueue.core.storable_text import unstorable
from mailqueue.db.fetch import Conn
from mailqueue.schedules import planning, recurrence
from mailqueue.schedules.model import Recurrence
from mailqueue.schedules.store import occurrences
from mailqueue.schedules.store import schedules as store


async def named(conn: Conn, project_id: UUID, name: str) -> UUID:
    """Return the id of the schedule of that id or name; unfinished ones come first.

    Raises:
        NotFound: the project has none.
    """
    found = await store.named(conn, project_id, name)
    if found is None:
        raise NotFound("schedule", name[:100])
    return found


async def list_page(
    conn: Conn, project_id: UUID, *, status: str | None, before: UUID | None, limit: int
) -> Page[Schedule]:
    """Return schedules of a project, newest first."""
    found = await store.list_(conn, project_id, status=status, before=before, limit=limit + 1)
    return Page(found[:limit], cursor_of(found[limit - 1].id) if len(found) > limit else None)


async def get(conn: Conn, project_id: UUID, schedule_id: UUID) -> Schedule:
    """Return one schedule.

    Raises:
        NotFound: the project has no such schedule.
    """
    found = await store.list_(conn, project_id, schedule_id=schedule_id)
    if not found:
        raise NotFound("schedule", schedule_id)
    return found[0]


async def add(conn: Conn, project_id: UUID, given: Mapping[str, Any], *, by: str) -> Schedule:
    """Add a schedule, with its next occurrence computed.

    `given` has the fields of the SQL function `put_schedule`.

    Raises:
        InvalidField: a field is invalid.
        Conflict: the project has an unfinished schedule of that name.
    """
    _check(given)
    async with conn.transaction():
        made = await store.add(conn, project_id, None, given, by=by)
        if made is None:
            raise Conflict(f"schedule {given.get('name')} already exists in this project")
        await _plan(conn, made, must_run=True)
    return await get(conn, project_id, made)


async def change(
    conn: Conn, project_id: UUID, schedule_id: UUID, given: Mapping[str, Any], *, by: str
) -> Schedule:
    """Replace what a schedule does from now on.

    Raises:
        InvalidField: a field is invalid.
        NotFound: the project has no such schedule.
        Conflict: it is finished, or has run already.
    """
    _check(given)
    async with conn.transaction():
        state = await store.change(conn, project_id, schedule_id, given, by=by)
        if state != "changed":
            raise _refused(schedule_id, state, "only one that is still to run can be changed")
        await _plan(conn, schedule_id, must_run=True)
    return await get(conn, project_id, schedule_id)


async def pause(conn: Conn, project_id: UUID, schedule_id: UUID, *, by: str) -> Schedule:
    """Pause a schedule.

    Raises:
        NotFound: the project has no such schedule.
        Conflict: it is finished.
    """
    state = await store.pause(conn, project_id, schedule_id, by=by)
    if state != "paused":
        raise _refused(schedule_id, state, "only a schedule that is still to run can be paused")
    return await get(conn, project_id, schedule_id)


async def resume(conn: Conn, project_id: UUID, schedule_id: UUID, *, by: str) -> Schedule:
    """Resume a schedule with its first occurrence from now on.

    Raises:
        NotFound: the project has no such schedule.
        Conflict: it is finished.
    """
    async with conn.transaction():
        state = await store.resume(conn, project_id, schedule_id, by=by)
        if state != "pending":
            raise _refused(schedule_id, state, "only a schedule that is paused can be resumed")
        await _plan(conn, schedule_id)
    return await get(conn, project_id, schedule_id)


async def cancel(conn: Conn, project_id: UUID, schedule_id: UUID, *, by: str) -> CancelledRun:
    """Cancel what a schedule would still do; the answer says whether it had run.

    Emails of its runs whose time has not come are cancelled too.

    Raises:
        NotFound: the project has no such schedule.
    """
    found = await store.cancel(conn, project_id, schedule_id, by=by)
    if found.state == "missing":
        raise NotFound("schedule", schedule_id)
    return CancelledRun(
        schedule_id, found.state, found.run_number, found.queued or 0, found.cancelled
    )


async def run(conn: Conn, project_id: UUID, schedule_id: UUID, *, by: str) -> ScheduleRun:
    """Begin a run now, beside the occurrences of a schedule.

    Raises:
        NotFound: the project has no such schedule.
        Conflict: it is finished.
    """
    found = await store.run(conn, project_id, schedule_id, by=by)
    if found.run_id is None:
        raise _refused(schedule_id, found.state, "only a schedule that is still to run can be run")
    made = await store.runs(conn, project_id, schedule_id, run_id=found.run_id)
    return made[0]


async def skip(conn: Conn, project_id: UUID, schedule_id: UUID, *, by: str) -> SkippedRun:
    """Leave the next occurrence of a schedule out.

    Raises:
        NotFound: the project has no such schedule.
        Conflict: it is finished, runs once, or its next occurrence is being computed.
    """
    async with conn.transaction():
        found = await store.skip(conn, project_id, schedule_id, by=by)
        if found.skipped is None:
            why = {
                "once": "it runs once: cancel it",
                "unplanned": "its next occurrence is being computed: try again",
            }
            words = why.get(found.state, "only a schedule that is still to run can leave one out")
            raise _refused(schedule_id, found.state, words)
        await _plan(conn, schedule_id)
    after = await get(conn, project_id, schedule_id)
    return SkippedRun(found.skipped, after.next_run_at)


async def next_runs(conn: Conn, project_id: UUID, schedule_id: UUID, *, count: int) -> NextRuns:
    """Return the next occurrences of a schedule, within its end and its number of runs.

    Raises:
        NotFound: the project has no such schedule.
    """
    found = await get(conn, project_id, schedule_id)
    release = await occurrences.zone_release(conn)
    most = count if found.max_runs is None else min(count, found.max_runs - found.run_count)
    is_over = found.status not in ("active", "paused") or most <= 0
    if is_over or (found.cron_expression is None and found.next_run_at is None):
        return NextRuns(found.timezone, release, [])
    rule = recurrence_of(found)
    if rule is None:
        assert found.next_run_at is not None, "it was looked at above"
        (at,) = await occurrences.clocks(
            conn,
            [(Recurrence("", found.timezone, found.schedule_type == "local"), found.next_run_at)],
        )
        return NextRuns(found.timezone, release, [NextRun(found.next_run_at, at.local.isoformat())])
    after = await occurrences.clock(conn)
    if found.next_run_at is not None:
        # Occurrences that were left out are before it.
        after = max(after, found.next_run_at - timedelta(microseconds=1))
    listed = await planning.preview(conn, rule, after=after, until=found.ends_at, count=most)
    return NextRuns(
        found.timezone, release, [NextRun(one.at, one.local.isoformat()) for one in listed]
    )


async def runs(
    conn: Conn, project_id: UUID, schedule_id: UUID, *, before: int | None, limit: int
) -> Page[ScheduleRun]:
    """Return runs of a schedule, newest first.

    Raises:
        NotFound: the project has no such schedule.
    """
    await get(conn, project_id, schedule_id)
    found = await store.runs(conn, project_id, schedule_id, before=before, limit=limit + 1)
    return Page(found[:limit], cursor_of(found[limit - 1].number) if len(found) > limit else None)


async def find_run(conn: Conn, project_id: UUID, schedule_id: UUID, number: int) -> ScheduleRun:
    """Return a run of a schedule by its number.

    Raises:
        NotFound: there is no such run.
    """
    found = await store.runs(conn, project_id, schedule_id, number=number)
    if not found:
        raise NotFound("run", number)
    return found[0]


async def recipients(
    conn: Conn, project_id: UUID, run_id: UUID, *, after: str | None, limit: int
) -> Page[ScheduleRunRecipient]:
    """Return recipients of a run that was made in parts, by address."""
    found = await store.recipients(conn, project_id, run_id, after=after, limit=limit + 1)
    return Page(found[:limit], cursor_of(found[limit - 1].email) if len(found) > limit else None)


async def estimate(conn: Conn, project_id: UUID, schedule_id: UUID) -> ScheduleEstimate:
    """Return what a run would come to now, against the daily limit of the project.

    Raises:
        NotFound: the project has no such schedule.
    """
    found = await store.estimate(conn, project_id, schedule_id)
    if found is None:
        raise NotFound("schedule", schedule_id)
    return found


def recurrence_of(schedule: Schedule) -> Recurrence | None:
    """Return when a schedule runs again; None: it runs once. Pure."""
    if schedule.cron_expression is None:
        return None
    is_local = schedule.schedule_type == "local"
    return Recurrence(schedule.cron_expression, schedule.timezone, is_local)


async def _plan(conn: Conn, schedule_id: UUID, *, must_run: bool = False) -> None:
    """Compute the next occurrence of a schedule, in the caller's transaction."""
    row = await occurrences.unplanned(conn, schedule_id)
    if row is None:
        return
    (following,) = await planning.following(conn, [(row.recurrence, row.plan_after)])
    if following is None and must_run:
        raise InvalidField("cron_expression", f"{row.cron_expression} never comes")
    await occurrences.plan(conn, schedule_id, after=row.plan_after, following=following)


def _check(given: Mapping[str, Any]) -> None:
    if (fault := unstorable("payload", given)) is not None:
        raise fault
    cron = given.get("cron_expression")
    if isinstance(cron, str) and len(cron) > recurrence.MAX_CHARACTERS:
        raise InvalidField(
            "cron_expression", f"at most {recurrence.MAX_CHARACTERS} characters, got {len(cron)}"
        )


def _refused(schedule_id: UUID, state: str, needed: str) -> NotFound | Conflict:
    if state == "missing":
        return NotFound("schedule", schedule_id)
    words = "active" if state in ("pending", "once", "unplanned") else state
    return Conflict(f"schedule {schedule_id} is {words}: {needed}")
