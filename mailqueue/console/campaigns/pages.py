"""The campaigns of a project, with what waits and what was sent, and the way to pause them."""

from datetime import UTC, datetime, timedelta

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.operations import campaigns

PATH = "/console/projects/{project}/campaigns"
DAYS = 7
"""Days whose emails are counted."""
MAX_ROWS = 100
"""Campaigns that are shown; the filter finds others."""


async def show_campaigns(context: PageContext) -> Response:
    """List the campaigns of the last days, those with most queued emails first."""
    typed = {"q": context.query("q")}
    now = datetime.now(UTC)
    async with context.connection() as conn:
        found = await campaigns.recent(conn, context.seen.id, now=now, lasts=timedelta(days=DAYS))
    shown = [one for one in found.data if typed["q"].lower() in one.name.lower()]
    return context.page(
        "campaigns/list.html",
        campaigns=shown[:MAX_ROWS],
        more=max(0, len(shown) - MAX_ROWS),
        as_of=found.as_of,
        is_complete=found.is_complete,
        typed=typed,
        days=DAYS,
    )


PAGES = (ConsolePage("GET", PATH, Right.READ, show_campaigns, menu=MenuEntry("Campaigns", "Mail")),)
