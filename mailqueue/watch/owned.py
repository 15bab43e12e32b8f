"""What belongs to one person: found by its id and the person, as a person asks for it."""

from uuid import UUID

from mailqueue.contract.watch import FilterRule, Inbox, Notification, NotificationChannel
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.watch.store import people, places, work


async def inbox(conn: Conn, project_id: UUID, user_id: UUID, inbox_id: UUID) -> Inbox:
    """Return an inbox of a person.

    Raises:
        NotFound: the person has none of that id.
    """
    found = await places.list_inboxes(conn, project_id, inbox_id=inbox_id, user_id=user_id)
    if not found:
        raise NotFound("inbox", inbox_id)
    return found[0]


async def channel(
    conn: Conn, project_id: UUID, user_id: UUID, channel_id: UUID
) -> NotificationChannel:
    """Return a channel of a person.

    Raises:
        NotFound: the person has none of that id.
    """
    found = await places.list_channels(conn, project_id, channel_id=channel_id, user_id=user_id)
    if not found:
        raise NotFound("channel", channel_id)
    return found[0]


async def rule(conn: Conn, project_id: UUID, user_id: UUID, rule_id: UUID) -> FilterRule:
    """Return a filter rule of a person.

    Raises:
        NotFound: the person has none of that id.
    """
    found = await people.list_rules(conn, project_id, rule_id=rule_id, user_id=user_id)
    if not found:
        raise NotFound("filter rule", rule_id)
    return found[0]


async def notification(
    conn: Conn, project_id: UUID, user_id: UUID, notification_id: UUID
) -> Notification:
    """Return a notification of a person.

    Raises:
        NotFound: the person has none of that id.
    """
    found = await work.list_notifications(
        conn, project_id, notification_id=notification_id, user_id=user_id
    )
    if not found:
        raise NotFound("notification", notification_id)
    return found[0]
