"""The persons of a project whose inboxes are watched, and one of them."""

from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.contract.watch import ChannelStatus, InboxUser
from mailqueue.db.fetch import Conn
from mailqueue.watch import channels, inboxes, notifications, rules, users
from mailqueue.web.forms import uuid_of

PATH = "/console/projects/{project}/inbox-users"
PERSON = f"{PATH}/{{inbox_user_id}}"
PAGE_ROWS = 50
NEWEST = 10
"""Notifications that the page of a person shows, the newest ones."""
MAX_SHOWN = 100
"""Inboxes, channels and rules of a person that are shown."""
DONE = {
    "added": "The person was added. Invite them to log in, or connect their inboxes by the API.",
    "invited": "The invitation is queued. Its link works once, within seven days.",
    "paused": "Nothing is reported to this person until it is resumed.",
    "resumed": "New mail is reported to this person again.",
    "inbox_paused": "The inbox is not scanned until it is resumed.",
    "inbox_resumed": "The inbox is scanned again; mail that came meanwhile is not reported.",
    "scanned": "The inbox is scanned in a moment.",
    "disconnected": "The channel is disconnected, and its token is deleted.",
    "before": "This was done before, and was not done again.",
}


async def show_people(context: PageContext) -> Response:
    """List persons in the order they were added."""
    after = uuid_of(context.query("after"))
    async with context.connection() as conn:
        found = await users.list_page(conn, context.seen.id, after=after, limit=PAGE_ROWS + 1)
    return context.page(
        "watch/people.html",
        people=found[:PAGE_ROWS],
        following=found[PAGE_ROWS - 1].id if len(found) > PAGE_ROWS else None,
        is_first=after is None,
    )


async def show_person(context: PageContext) -> Response:
    """Show a person: inboxes, channels, rules, and the newest notifications."""
    project_id = context.seen.id
    async with context.connection() as conn:
        person = await find_person(context, conn)
        watched = await inboxes.list_page(conn, project_id, user_id=person.id, limit=MAX_SHOWN)
        connected = await channels.list_page(conn, project_id, user_id=person.id, limit=MAX_SHOWN)
        filters = await rules.list_page(conn, project_id, user_id=person.id, limit=MAX_SHOWN)
        told = await notifications.list_page(conn, project_id, user_id=person.id, limit=NEWEST)
    connected.sort(key=lambda one: one.status == ChannelStatus.DISCONNECTED)
    return context.page(
        "watch/person.html",
        person=person,
        inboxes=watched,
        channels=connected,
        rules=filters,
        notifications=told,
        done=DONE.get(context.query("done"), ""),
    )


async def find_person(context: PageContext, conn: Conn) -> InboxUser:
    """Return the person in the path.

    Raises:
        NotFound: the project has no such person.
    """
    user_id: UUID = context.id_in_path("inbox_user_id", "inbox user")
    return await users.get(conn, context.seen.id, user_id)


PAGES = (
    ConsolePage(
        "GET", PATH, Right.READ, show_people, menu=MenuEntry("Watched inboxes", "Inbox watch")
    ),
    ConsolePage("GET", PERSON, Right.READ, show_person),
)
