"""The dashboard: what all projects, or one of them, send and wait for now."""

from collections.abc import Mapping

from starlette.responses import Response

from mailqueue.admin.users import seeing
from mailqueue.admin.users.model import Right, SeenProject
from mailqueue.console.frame.context import Console, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.console.live.stream import LiveView, parts_of, stream
from mailqueue.db.fetch import Conn
from mailqueue.operations.model import BLOCKED_WORDS
from mailqueue.operations.overview import has_sent

DASHBOARD = "/console/dashboard"
ACTIVITY = "/console/projects/{project}/activity"
MAX_PROJECTS = 12
"""Projects to which the dashboard leads, by name; the search finds all."""
MAX_ROWS = 20
"""Sender accounts and blocked lanes that are shown; the infrastructure has all of them."""


async def read_activity(
    console: Console, conn: Conn, project: SeenProject | None
) -> Mapping[str, object]:
    """Return the snapshot of all projects, or of one."""
    await console.activity.refresh(conn)
    found = (
        console.activity.snapshot()
        if project is None
        else console.activity.snapshot(project.id, project.name)
    )
    return {"now": found, "most": MAX_ROWS, "blocked_words": BLOCKED_WORDS}


VIEW = LiveView(
    "activity",
    Right.READ,
    read_activity,
    {
        "figures": "dashboard/figures.html",
        "accounts": "dashboard/accounts.html",
        "traffic": "dashboard/traffic.html",
    },
)


async def show_dashboard(context: PageContext) -> Response:
    """Show all projects."""
    parts = await parts_of(context, VIEW)
    async with context.console.lend() as conn:
        found = await seeing.list_projects(conn, context.user.user_id, limit=MAX_PROJECTS + 1)
    return context.page(
        "dashboard/dashboard.html",
        parts=parts,
        steps=await _first_steps(context),
        projects=found[:MAX_PROJECTS],
        has_more=len(found) > MAX_PROJECTS,
    )


async def show_activity(context: PageContext) -> Response:
    """Show one project."""
    is_new = False
    if context.may(Right.CONFIGURE):
        async with context.connection() as conn:
            is_new = not await has_sent(conn, context.seen.id)
    steps = project_path(context.seen.name, "setup") if is_new else ""
    parts = await parts_of(context, VIEW)
    return context.page("dashboard/activity.html", parts=parts, steps=steps)


async def _first_steps(context: PageContext) -> str:
    """Return the path of the first steps while no email was ever sent, else ""; of several projects
    that of the list in which one is chosen.
    """
    if not context.may(Right.ADMINISTER):
        return ""
    async with context.installation() as conn:
        if await has_sent(conn):
            return ""
    async with context.console.lend() as conn:
        found = await seeing.list_projects(conn, context.user.user_id, limit=2)
    return project_path(found[0].name, "setup") if len(found) == 1 else "/console/projects"


async def changes(context: PageContext) -> Response:
    """Return what changes on either page."""
    return await stream(context, VIEW)


PAGES = (
    ConsolePage(
        "GET", DASHBOARD, Right.READ, show_dashboard, needs_all=True, menu=MenuEntry("Dashboard")
    ),
    ConsolePage("GET", f"{DASHBOARD}/live", Right.READ, changes, needs_all=True),
    ConsolePage("GET", ACTIVITY, Right.READ, show_activity, menu=MenuEntry("Activity")),
    ConsolePage("GET", f"{ACTIVITY}/live", Right.READ, changes),
)
