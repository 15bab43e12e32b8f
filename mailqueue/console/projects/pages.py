"""The first page: the projects that the user sees."""

from starlette.responses import Response

from mailqueue.admin.users import seeing
from mailqueue.console.dashboard.pages import DASHBOARD
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import Access, ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.frame.router import HOME

PROJECTS = "/console/projects"
PAGE_ROWS = 50


async def home(context: PageContext) -> Response:
    """Go to the dashboard, if the user sees all projects; else list the user's own."""
    if context.user.sees_all:
        return context.redirect(DASHBOARD)
    return await show_projects(context)


async def show_projects(context: PageContext) -> Response:
    """List the projects; a user of a single one goes to its emails."""
    text, after = context.query("q"), context.query("after")
    async with context.console.lend() as conn:
        found = await seeing.list_projects(
            conn,
            context.user.user_id,
            text=text or None,
            after=after or None,
            limit=PAGE_ROWS + 1,
        )
    if len(found) == 1 and not text and not after and not context.user.sees_all:
        return context.redirect(project_path(found[0].name, "emails"))
    shown = found[:PAGE_ROWS]
    return context.page(
        "projects/list.html",
        projects=shown,
        text=text,
        following=shown[-1].name if len(found) > PAGE_ROWS else None,
    )


PAGES = (
    ConsolePage("GET", HOME, Access.SIGNED_IN, home),
    ConsolePage("GET", PROJECTS, Access.SIGNED_IN, show_projects, menu=MenuEntry("Projects")),
)
