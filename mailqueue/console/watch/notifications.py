"""Notifications of new mail: what became of each and why, and delivering one again.

Sender and subject are shown as they are of emails; what the mail says is not.
"""

from contextlib import suppress
from uuid import UUID

from starlette.responses import Response

from mailqueue.admin.users.model import Right
from mailqueue.console.frame.acting import ActPage, ActPreview, button_pages
from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.contract.watch import Notification, NotificationStatus
from mailqueue.core.errors import Conflict, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.watch import channels, inboxes, notifications, users
from mailqueue.web.forms import uuid_of

PATH = "/console/projects/{project}/notifications"
NOTIFICATION = f"{PATH}/{{notification_id}}"
PAGE_ROWS = 50
STATUSES = (("", "any"), *((one.value, one.value) for one in NotificationStatus))
MEANINGS = {
    NotificationStatus.PENDING: "It waits for its turn",
    NotificationStatus.BATCHED: "A summary that is not sent yet tells of it",
    NotificationStatus.SENT: "It is sent; what became of it is not reported yet",
    NotificationStatus.DELIVERED: "It arrived",
    NotificationStatus.FAILED: "It was not delivered",
    NotificationStatus.UNKNOWN: "It may have arrived: the connection broke before the answer",
}
"""What became of a notification, in words."""
DONE = {
    "again": "It is delivered again in a moment.",
    "before": "This was done before, and was not done again.",
}


async def show_notifications(context: PageContext) -> Response:
    """List notifications, newest first, with a filter by state and one by person."""
    typed = {name: context.query(name) for name in ("status", "person")}
    person, before = uuid_of(typed["person"]), uuid_of(context.query("before"))
    faults = {} if typed["status"] in dict(STATUSES) else {"status": "must be one of those shown"}
    if typed["person"] and person is None:
        faults["person"] = "is no id"
    found: list[Notification] = []
    if not faults:
        async with context.connection() as conn:
            found = await notifications.list_page(
                conn,
                context.seen.id,
                user_id=person,
                status=NotificationStatus(typed["status"]) if typed["status"] else None,
                before=before,
                limit=PAGE_ROWS + 1,
            )
    return context.page(
        "watch/notifications.html",
        notifications=found[:PAGE_ROWS],
        following=found[PAGE_ROWS - 1].id if len(found) > PAGE_ROWS else None,
        typed=typed,
        faults=faults,
        statuses=STATUSES,
    )


async def show_notification(context: PageContext) -> Response:
    """Show one notification, and why it is not delivered."""
    project_id = context.seen.id
    async with context.connection() as conn:
        found = await _found(context, conn)
        person = await users.get(conn, project_id, found.user_id)
        inbox = channel = None
        for known in await inboxes.list_page(conn, project_id, user_id=person.id, limit=100):
            inbox = known if known.id == found.email_account_id else inbox
        with suppress(NotFound):  # its row went with the person's
            channel = await channels.get(conn, project_id, found.notification_channel_id)
    return context.page(
        "watch/notification.html",
        notification=found,
        person=person,
        inbox=inbox,
        channel=channel,
        meaning=MEANINGS[found.delivery_status],
        may_retry=_may_retry(found),
        done=DONE.get(context.query("done"), ""),
    )


async def preview_retry(context: PageContext, conn: Conn) -> ActPreview:
    """Return what is delivered again."""
    found = await _found(context, conn)
    twice = "It may have arrived before. " if found.delivery_status == "unknown" else ""
    return ActPreview(
        found.subject or f"a {found.kind}",
        f"{twice}It is sent once more to the channel that the person has connected now.",
    )


async def retry(context: PageContext, conn: Conn) -> str:
    """Deliver one again."""
    found = await _found(context, conn)
    done = await notifications.retry(conn, context.seen.id, [found.id], by=context.user.by)
    if not done.notifications:
        raise Conflict(
            "nothing was delivered again: the person has no connected channel, or it is being "
            "tried already"
        )
    return project_path(context.seen.name, "notifications", found.id, done="again")


def _may_retry(one: Notification) -> bool:
    """Return whether a notification has ended without being delivered. Pure."""
    has_ended = one.delivery_status in (NotificationStatus.FAILED, NotificationStatus.UNKNOWN)
    return has_ended and one.summary_id is None and one.next_attempt_at is None


async def _found(context: PageContext, conn: Conn) -> Notification:
    notification_id: UUID = context.id_in_path("notification_id", "notification")
    return await notifications.get(conn, context.seen.id, notification_id)


PAGES = (
    ConsolePage(
        "GET", PATH, Right.READ, show_notifications, menu=MenuEntry("Notifications", "Inbox watch")
    ),
    ConsolePage("GET", NOTIFICATION, Right.READ, show_notification),
    *button_pages(
        f"{NOTIFICATION}/retry",
        Right.RESEND,
        ActPage(
            "Deliver again the notification of",
            "Deliver the notification again",
            preview_retry,
            retry,
        ),
    ),
)
