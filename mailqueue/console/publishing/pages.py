"""The outboxes of a project: where messages that services write are published, and what waits."""

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.automation.publishing import Outbox
from mailqueue.db.fetch import Conn
from mailqueue.publishing import outboxes

PATH = "/console/projects/{project}/outboxes"
OUTBOX = f"{PATH}/{{outbox}}"
NEW = f"{PATH}/~new"
"""The name of an outbox cannot begin with ~."""
DONE = {
    "added": "The outbox was added. Messages that services write to it are published.",
    "changed": "The outbox was changed. What waits is published there.",
    "skipped": "The message was left out. Those after it are published.",
    "removed": "The outbox was removed.",
    "before": "This was done before, and was not done again.",
}


async def show_outboxes(context: PageContext) -> Response:
    """List outboxes by name."""
    async with context.connection() as conn:
        found = await outboxes.list_(conn, context.seen.id)
    return context.page(
        "publishing/list.html", outboxes=found, done=DONE.get(context.query("done"), "")
    )


async def show_outbox(context: PageContext) -> Response:
    """Show one outbox."""
    async with context.connection() as conn:
        found = await find_outbox(context, conn)
    return context.page(
        "publishing/outbox.html", outbox=found, done=DONE.get(context.query("done"), "")
    )


async def find_outbox(context: PageContext, conn: Conn) -> Outbox:
    """Return the outbox in the path.

    Raises:
        NotFound: the project has no such outbox.
    """
    name: str = context.request.path_params["outbox"]
    return await outboxes.get(conn, context.seen.id, name.replace("\0", "\ufffd"))


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_outboxes, menu=MenuEntry("Outboxes", "Programs")),
    ConsolePage("GET", OUTBOX, Right.READ, show_outbox),
)
