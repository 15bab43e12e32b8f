"""The schedules of a project, and one of them: when it runs next, and what its runs made."""

from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.automation.schedules import Schedule, ScheduleStatus
from mailqueue.core.paging import key_of
from mailqueue.schedules import schedules

PATH = "/console/projects/{project}/schedules"
SCHEDULE = f"{PATH}/{{schedule_id}}"
PAGE_ROWS = 50
NEXT_RUNS = 10
"""Occurrences that the page of a schedule shows."""
SHOWN_RECIPIENTS = 10
STATUSES = (("", "any"), *((status.value, status.value) for status in ScheduleStatus))
DONE = {
    "paused": "The schedule is paused. It makes no email until it is resumed.",
    "resumed": "The schedule is resumed with its first time from now on.",
    "begun": "A run has begun. It stands below with what it makes.",
    "skipped": "The next run is left out.",
    "before": "This was done before, and was not done again.",
}


async def show_schedules(context: PageContext) -> Response:
    """List schedules, newest first, with the filter by status."""
    status = context.query("status")
    faults = {} if status in dict(STATUSES) else {"status": "must be one of those shown"}
    found, following = list[Schedule](), None
    if not faults:
        (before,) = key_of(context.query("cursor") or None, UUID)
        async with context.connection() as conn:
            page = await schedules.list_page(
                conn, context.seen.id, status=status or None, before=before, limit=PAGE_ROWS
            )
        found, following = list(page.data), page.next_cursor
    return context.page(
        "schedules/list.html",
        schedules=found,
        following=following,
        typed={"status": status},
        faults=faults,
        statuses=STATUSES,
    )


async def show_schedule(context: PageContext) -> Response:
    """Show one schedule: its next ten times, and its runs, newest first."""
    schedule_id = schedule_id_of(context)
    (before,) = key_of(context.query("cursor") or None, int)
    async with context.connection() as conn:
        schedule = await schedules.get(conn, context.seen.id, schedule_id)
        upcoming = await schedules.next_runs(conn, context.seen.id, schedule_id, count=NEXT_RUNS)
        runs = await schedules.runs(
            conn, context.seen.id, schedule_id, before=before, limit=PAGE_ROWS
        )
    recipients = [_recipient(one) for one in schedule.payload.get("to", ())]
    return context.page(
        "schedules/schedule.html",
        schedule=schedule,
        upcoming=upcoming,
        runs=runs.data,
        following=runs.next_cursor,
        recipients=recipients[:SHOWN_RECIPIENTS],
        more_recipients=max(0, len(recipients) - SHOWN_RECIPIENTS),
        done=DONE.get(context.query("done"), ""),
        cancelled=context.query("cancelled"),
    )


def schedule_id_of(context: PageContext) -> UUID:
    """Return the id of the schedule in the path.

    Raises:
        NotFound: the value is not an id.
    """
    return context.id_in_path("schedule_id", "schedule")


def title_of(schedule: Schedule) -> str:
    """Return the words by which people know a schedule. Pure."""
    subject = schedule.payload.get("subject")
    return schedule.name or str(subject or schedule.template_slug or schedule.id)


def _recipient(given: object) -> str:
    """Return an address or the name of a list. Pure."""
    return str(given.get("email", "")) if isinstance(given, dict) else str(given)


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_schedules, menu=MenuEntry("Schedules", "Automatic")),
    ConsolePage("GET", SCHEDULE, Right.READ, show_schedule),
)
