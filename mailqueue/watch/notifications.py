"""Notifications: list, show, deliver again."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.contract.watch import Notification, NotificationRetry, NotificationStatus
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.watch.store import work


async def list_page(
    conn: Conn,
    project_id: UUID,
    *,
    user_id: UUID | None = None,
    status: NotificationStatus | None = None,
    before: UUID | None = None,
    limit: int,
) -> list[Notification]:
    """Return notifications, newest first."""
    return await work.list_notifications(
        conn, project_id, user_id=user_id, status=status, before=before, limit=limit
    )


async def get(conn: Conn, project_id: UUID, notification_id: UUID) -> Notification:
    """Return one notification.

    Raises:
        NotFound: there is none of that id.
    """
    found = await work.list_notifications(conn, project_id, notification_id=notification_id)
    if not found:
        raise NotFound("notification", notification_id)
    return found[0]


async def retry(conn: Conn, project_id: UUID, ids: Sequence[UUID], *, by: str) -> NotificationRetry:
    """Deliver again those that failed or whose outcome is unknown; return how many."""
    return NotificationRetry(await work.retry(conn, project_id, ids, by=by))
