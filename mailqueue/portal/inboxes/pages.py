"""A person's inboxes: the list, with pause, resume and scan, and the pause of everything."""

from starlette.responses import Response

from mailqueue.db.fetch import Conn
from mailqueue.portal.frame.context import PortalContext
from mailqueue.portal.frame.forms import PortalVerb, button
from mailqueue.portal.frame.page import PortalPage
from mailqueue.watch import channels, inboxes, owned, users
from mailqueue.watch.inboxes import InboxAction

MAX_INBOXES = 20
"""Inboxes that a person may have, as SQL bounds them."""
DONE = {InboxAction.PAUSE: "paused", InboxAction.RESUME: "resumed", InboxAction.SCAN: "scanned"}


async def show(context: PortalContext) -> Response:
    """List the person's inboxes."""
    project_id, user_id = context.project.id, context.person.user_id
    async with context.connection() as conn:
        found = await inboxes.list_page(conn, project_id, user_id=user_id, limit=MAX_INBOXES)
        connected = await channels.list_page(conn, project_id, user_id=user_id, limit=100)
    return context.page(
        "inboxes/list.html",
        inboxes=found,
        has_channel=any(one.status != "disconnected" for one in connected),
        has_gmail=context.portal.inbox_consents is not None,
        done=context.query("done"),
    )


def _switch(action: InboxAction) -> PortalVerb:
    async def verb(context: PortalContext, conn: Conn) -> str:
        one = await owned.inbox(
            conn,
            context.project.id,
            context.person.user_id,
            context.id_in_path("inbox_id", "inbox"),
        )
        await inboxes.switch(conn, context.project.id, one.id, action, by=context.person.by)
        return context.path(done=DONE[action])

    return verb


def _pause(*, is_paused: bool) -> PortalVerb:
    async def verb(context: PortalContext, conn: Conn) -> str:
        person = context.person
        await users.pause(
            conn, context.project.id, person.user_id, is_paused=is_paused, by=person.by
        )
        return context.path(done="all_paused" if is_paused else "all_resumed")

    return verb


PAGES = (
    PortalPage("GET", "", show, menu="Inboxes"),
    button("/pause", "", _pause(is_paused=True)),
    button("/resume", "", _pause(is_paused=False)),
    *(button(f"/inboxes/{{inbox_id}}/{action}", "", _switch(action)) for action in InboxAction),
)
