"""Suggestions for the filters of the list of emails, which the page asks for when they unfold."""

from datetime import UTC, datetime, timedelta

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.emails.pages import PATH
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.page import ConsolePage
from mailqueue.operations import campaigns
from mailqueue.senders import accounts
from mailqueue.templates import writing

MAX_SUGGESTED = 50
"""Campaigns, templates and sender accounts that are suggested, each."""
LASTS = timedelta(days=7)
"""Time in which a campaign had an email."""


async def show_suggestions(context: PageContext) -> Response:
    """Return campaigns, templates and sender accounts of the project, as lists of options."""
    project, now = context.seen, datetime.now(UTC)
    async with context.connection() as conn:
        recent = await campaigns.recent(conn, project.id, now=now, lasts=LASTS)
        templates = await writing.list_all(conn, project.id, limit=MAX_SUGGESTED)
        senders = await accounts.list_all(conn, project=project.name)
    return context.page(
        "emails/suggestions.html",
        campaigns=[each.name for each in recent.data[:MAX_SUGGESTED]],
        templates=[each.slug for each in templates],
        senders=[each.name for each in senders[:MAX_SUGGESTED]],
    )


PAGES = (ConsolePage("GET", f"{PATH}/suggestions", Right.READ, show_suggestions),)
