"""The calendar: what the schedules, timed events and sequences of a project do next."""

from datetime import UTC, datetime

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.operations import calendar

PATH = "/console/projects/{project}/calendar"
DAYS = 7
"""Days that the calendar shows, today among them."""


async def show_calendar(context: PageContext) -> Response:
    """Show the next days."""
    now = datetime.now(UTC)
    async with context.connection() as conn:
        found = await calendar.upcoming(conn, context.seen.id, now=now, days=DAYS)
    return context.page(
        "schedules/calendar.html", calendar=found, today=now.date(), shown_days=DAYS
    )


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_calendar, menu=MenuEntry("Calendar", "Automatic")),
)
