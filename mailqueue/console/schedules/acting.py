"""Pages that pause, resume, run, skip and cancel a schedule; each says first what it will do."""

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.schedules.pages import SCHEDULE, schedule_id_of, title_of
from mailqueue.contract.automation.schedules import Schedule
from mailqueue.db.fetch import Conn
from mailqueue.schedules import ahead, schedules
from mailqueue.web.rendering import counted, shown_time


async def preview_pause(context: PageContext, conn: Conn) -> ActPreview:
    """Return what a pause does."""
    found = await _found(context, conn)
    return ActPreview(
        title_of(found),
        "It makes no email until it is resumed, and times that pass meanwhile are not made up for. "
        "Emails of runs that have begun are sent.",
    )


async def pause(context: PageContext, conn: Conn) -> str:
    """Pause the schedule."""
    await schedules.pause(conn, context.seen.id, schedule_id_of(context), by=context.user.by)
    return _path(context, done="paused")


async def preview_resumption(context: PageContext, conn: Conn) -> ActPreview:
    """Return when a schedule that is resumed runs next."""
    found = await _found(context, conn)
    upcoming = await schedules.next_runs(conn, context.seen.id, found.id, count=1)
    again = f" Its next time is {shown_time(upcoming.data[0].run_at)}." if upcoming.data else ""
    return ActPreview(
        title_of(found), f"It runs from now on; times of the pause are left out.{again}"
    )


async def resume(context: PageContext, conn: Conn) -> str:
    """Resume the schedule."""
    await schedules.resume(conn, context.seen.id, schedule_id_of(context), by=context.user.by)
    return _path(context, done="resumed")


async def preview_run(context: PageContext, conn: Conn) -> ActPreview:
    """Return how many emails a run makes."""
    found = await _found(context, conn)
    makes = await schedules.estimate(conn, context.seen.id, found.id)
    least = "" if makes.is_complete else "at least "
    count = counted(makes.recipients, "recipient")
    words = f"A run begins now, for {least}{count}; its next times stay as they are."
    if makes.suppressed:
        words += f" {counted(makes.suppressed, 'address', 'addresses')} of them are suppressed."
    if makes.headroom is not None and makes.recipients > makes.headroom:
        words += f" The daily limit of the project leaves {makes.headroom:,} for today."
    return ActPreview(title_of(found), words)


async def run(context: PageContext, conn: Conn) -> str:
    """Begin a run now."""
    await schedules.run(conn, context.seen.id, schedule_id_of(context), by=context.user.by)
    return _path(context, done="begun")


async def preview_skip(context: PageContext, conn: Conn) -> ActPreview:
    """Return which time is left out, and when the schedule then runs."""
    found = await _found(context, conn)
    upcoming = await schedules.next_runs(conn, context.seen.id, found.id, count=2)
    times = [shown_time(one.run_at) for one in upcoming.data]
    if not times:
        return ActPreview(title_of(found), "It has no next time that could be left out.")
    after = f" It then runs at {times[1]}." if len(times) > 1 else " It has no time after it."
    return ActPreview(title_of(found), f"The run of {times[0]} is left out.{after}")


async def skip(context: PageContext, conn: Conn) -> str:
    """Leave the next run out."""
    await schedules.skip(conn, context.seen.id, schedule_id_of(context), by=context.user.by)
    return _path(context, done="skipped")


async def preview_cancellation(context: PageContext, conn: Conn) -> ActPreview:
    """Return how many emails that wait for their time are cancelled."""
    found = await _found(context, conn)
    waiting = await ahead.count(conn, context.seen.id, found.id)
    words = "It never runs again, and there is no way to undo it. A run that is being made ends. "
    if waiting > ahead.MAX_COUNTED:
        words += f"More than {ahead.MAX_COUNTED:,} emails wait for their time and are cancelled."
    elif waiting:
        verb = "waits for its time and is" if waiting == 1 else "wait for their time and are"
        words += f"{counted(waiting, 'email')} {verb} cancelled."
    else:
        words += "No email waits for its time; emails whose time has come are sent."
    return ActPreview(title_of(found), words)


async def cancel(context: PageContext, conn: Conn) -> str:
    """Cancel the schedule; the page then says how many emails that cancelled."""
    done = await schedules.cancel(
        conn, context.seen.id, schedule_id_of(context), by=context.user.by
    )
    return _path(context, cancelled="many" if done.cancelled is None else done.cancelled)


async def _found(context: PageContext, conn: Conn) -> Schedule:
    return await schedules.get(conn, context.seen.id, schedule_id_of(context))


def _path(context: PageContext, **query: object) -> str:
    return project_path(context.seen.name, "schedules", schedule_id_of(context), **query)


PAGES = (
    *button_pages(
        f"{SCHEDULE}/pause",
        Right.CONTROL,
        ActPage("Pause the schedule", "Pause the schedule", preview_pause, pause),
    ),
    *button_pages(
        f"{SCHEDULE}/resume",
        Right.CONTROL,
        ActPage("Resume the schedule", "Resume the schedule", preview_resumption, resume),
    ),
    *button_pages(
        f"{SCHEDULE}/run",
        Right.CONTROL,
        ActPage("Run the schedule", "Run the schedule now", preview_run, run),
    ),
    *button_pages(
        f"{SCHEDULE}/skip",
        Right.CONTROL,
        ActPage("Skip the next run of the schedule", "Skip the next run", preview_skip, skip),
    ),
    *button_pages(
        f"{SCHEDULE}/cancel",
        Right.CONTROL,
        ActPage(
            "Cancel the schedule",
            "Cancel the schedule",
            preview_cancellation,
            cancel,
            is_destructive=True,
        ),
        step_up=True,
    ),
)
