"""Inboxes and channels as rows."""

from collections.abc import Sequence
from uuid import UUID

from mailqueue.contract.watch import Inbox, NotificationChannel
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.watch import watch as sql


async def list_inboxes(
    conn: Conn,
    project_id: UUID,
    *,
    inbox_id: UUID | None = None,
    user_id: UUID | None = None,
    after: UUID | None = None,
    limit: int = 1,
) -> list[Inbox]:
    """Return inboxes in the order they were added, of one person or with the id."""
    values = {
        "project_id": project_id,
        "id": inbox_id,
        "user_id": user_id,
        "after": after,
        "limit": limit,
    }
    return await fetch.many(conn, sql.LIST_INBOXES, values, Inbox)


async def add_inbox(
    conn: Conn,
    project_id: UUID,
    inbox_id: UUID,
    *,
    user_id: UUID,
    email_address: str,
    host: str,
    port: int,
    tls: str,
    username: str,
    sealed: bytes,
    folders: Sequence[str],
    webmail_url: str | None,
    scan_seconds: int,
    by: str,
) -> bool:
    """Add an inbox; return False where the person has it already.

    Raises:
        InvalidField: a field is invalid.
    """
    values = {
        "project_id": project_id,
        "id": inbox_id,
        "user_id": user_id,
        "email_address": email_address,
        "host": host,
        "port": port,
        "tls": tls,
        "username": username,
        "sealed": sealed,
        "folders": list(folders),
        "webmail_url": webmail_url,
        "scan_seconds": scan_seconds,
        "by": by,
    }
    with refusals(otherwise="email_address"):
        async with conn.transaction():
            return await fetch.value(conn, sql.ADD_MAILBOX, values, bool)


async def switch_inbox(
    conn: Conn, project_id: UUID, inbox_id: UUID, action: str, *, by: str
) -> str:
    """Pause, resume or scan an inbox; return changed, unchanged, error or missing."""
    values = {"project_id": project_id, "id": inbox_id, "action": action, "by": by}
    return await fetch.value(conn, sql.SWITCH_MAILBOX, values, str)


async def reconnect_inbox(
    conn: Conn, project_id: UUID, inbox_id: UUID, *, username: str | None, sealed: bytes, by: str
) -> bool:
    """Replace the credentials of an inbox; return False where there is no such inbox.

    Raises:
        InvalidField: a field is invalid.
    """
    values = {
        "project_id": project_id,
        "id": inbox_id,
        "username": username,
        "sealed": sealed,
        "by": by,
    }
    with refusals(otherwise="username"):
        async with conn.transaction():
            return await fetch.value(conn, sql.RECONNECT_MAILBOX, values, bool)


async def remove_inbox(conn: Conn, project_id: UUID, inbox_id: UUID, *, by: str) -> bool:
    """Remove an inbox; return False where there is none."""
    values = {"project_id": project_id, "id": inbox_id, "by": by}
    return await fetch.value(conn, sql.REMOVE_MAILBOX, values, bool)


async def list_channels(
    conn: Conn,
    project_id: UUID,
    *,
    channel_id: UUID | None = None,
    user_id: UUID | None = None,
    after: UUID | None = None,
    limit: int = 1,
) -> list[NotificationChannel]:
    """Return channels in the order they were added, of one person or with the id."""
    values = {
        "project_id": project_id,
        "id": channel_id,
        "user_id": user_id,
        "after": after,
        "limit": limit,
    }
    return await fetch.many(conn, sql.LIST_NOTIFICATION_CHANNELS, values, NotificationChannel)


async def add_channel(
    conn: Conn,
    project_id: UUID,
    channel_id: UUID,
    *,
    user_id: UUID,
    sealed: bytes,
    slack_channel_id: str,
    workspace: str | None,
    by: str,
) -> bool:
    """Add a channel; return False where the person has a connected one of this type.

    Raises:
        InvalidField: a field is invalid.
    """
    values = {
        "project_id": project_id,
        "id": channel_id,
        "user_id": user_id,
        "sealed": sealed,
        "slack_channel_id": slack_channel_id,
        "workspace": workspace,
        "by": by,
    }
    with refusals(otherwise="slack_channel_id"):
        async with conn.transaction():
            return await fetch.value(conn, sql.ADD_NOTIFICATION_CHANNEL, values, bool)


async def reconnect_channel(
    conn: Conn,
    project_id: UUID,
    channel_id: UUID,
    *,
    sealed: bytes,
    slack_channel_id: str | None,
    by: str,
) -> bool:
    """Replace the token of a channel; return False where no such channel is connected.

    Raises:
        InvalidField: a field is invalid.
    """
    values = {
        "project_id": project_id,
        "id": channel_id,
        "sealed": sealed,
        "slack_channel_id": slack_channel_id,
        "by": by,
    }
    with refusals(otherwise="slack_channel_id"):
        async with conn.transaction():
            return await fetch.value(conn, sql.RECONNECT_CHANNEL, values, bool)


async def disconnect_channel(conn: Conn, project_id: UUID, channel_id: UUID, *, by: str) -> bool:
    """Disconnect a channel; return False where no such channel is connected."""
    values = {"project_id": project_id, "id": channel_id, "by": by}
    return await fetch.value(conn, sql.DISCONNECT_CHANNEL, values, bool)
