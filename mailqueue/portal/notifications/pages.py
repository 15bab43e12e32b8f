"""A person's notifications: what became of each and why, and delivering again what failed."""

from starlette.responses import Response

from mailqueue.contract.watch import NotificationStatus
from mailqueue.db.fetch import Conn
from mailqueue.portal.frame.context import PortalContext
from mailqueue.portal.frame.forms import button
from mailqueue.portal.frame.page import PortalPage
from mailqueue.watch import inboxes, notifications, owned
from mailqueue.web.forms import uuid_of

ABOVE = "/notifications"
PAGE = 50
"""Notifications on a page."""
MAX_RETRIED = 1_000
"""Notifications that one button delivers again, the newest first."""


async def show(context: PortalContext) -> Response:
    """List the person's notifications, newest first."""
    project_id, user_id = context.project.id, context.person.user_id
    chosen, before = context.query("status"), uuid_of(context.query("before"))
    status = NotificationStatus(chosen) if chosen in set(NotificationStatus) else None
    async with context.connection() as conn:
        found = await notifications.list_page(
            conn, project_id, user_id=user_id, status=status, before=before, limit=PAGE + 1
        )
        known = await inboxes.list_page(conn, project_id, user_id=user_id, limit=100)
    following = None
    if len(found) > PAGE:
        following = context.path("notifications", status=status or "", before=found[PAGE - 1].id)
    return context.page(
        "notifications/list.html",
        notifications=found[:PAGE],
        addresses={one.id: one.email_address for one in known},
        chosen=status or "",
        statuses=[(str(one), str(one)) for one in NotificationStatus],
        following=following,
        done=context.query("done"),
    )


async def _retry(context: PortalContext, conn: Conn) -> str:
    project_id, person = context.project.id, context.person
    one = await owned.notification(
        conn,
        project_id,
        person.user_id,
        context.id_in_path("notification_id", "notification"),
    )
    done = await notifications.retry(conn, project_id, [one.id], by=person.by)
    return context.path("notifications", done="retried" if done.notifications else "not_retried")


async def _retry_failed(context: PortalContext, conn: Conn) -> str:
    project_id, person = context.project.id, context.person
    failed = await notifications.list_page(
        conn,
        project_id,
        user_id=person.user_id,
        status=NotificationStatus.FAILED,
        limit=MAX_RETRIED,
    )
    done = await notifications.retry(conn, project_id, [one.id for one in failed], by=person.by)
    return context.path("notifications", done="retried" if done.notifications else "not_retried")


PAGES = (
    PortalPage("GET", ABOVE, show, menu="Notifications"),
    button(f"{ABOVE}/retry", ABOVE, _retry_failed),
    button(f"{ABOVE}/{{notification_id}}/retry", ABOVE, _retry),
)
