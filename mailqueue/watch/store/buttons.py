"""Muted senders, and presses of buttons, as rows."""

from typing import NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.watch import MutedSender
from mailqueue.core.storable_text import storable_json
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.watch import buttons as sql
from mailqueue.ports.channel import ButtonPress


class SigningChannel(NamedTuple):
    """A connected Slack channel, and whose secret signs what its buttons send."""

    channel_id: UUID
    project_id: UUID
    is_of_app: bool
    sealed: bytes | None


class PressedButton(NamedTuple):
    """What a press did: the sender that was muted, the second that a pause ends."""

    word: str
    sender: str | None
    until: int | None


async def list_muted(
    conn: Conn,
    project_id: UUID,
    *,
    muted_id: UUID | None = None,
    user_id: UUID | None = None,
    after: UUID | None = None,
    limit: int = 1,
) -> list[MutedSender]:
    """Return muted senders in the order they were muted, of one person or with the id."""
    values = {
        "project_id": project_id,
        "id": muted_id,
        "user_id": user_id,
        "after": after,
        "limit": limit,
    }
    return await fetch.many(conn, sql.LIST_MUTED_SENDERS, values, MutedSender)


async def mute(
    conn: Conn, project_id: UUID, user_id: UUID, sender_address: str, *, by: str
) -> UUID | None:
    """Mute a sender; return None where that is so already.

    Raises:
        InvalidField: a field is invalid.
    """
    values = {
        "project_id": project_id,
        "user_id": user_id,
        "sender_address": sender_address,
        "by": by,
    }
    with refusals(otherwise="sender_address"):
        async with conn.transaction():
            return await fetch.maybe(conn, sql.MUTE_SENDER, values, UUID)


async def unmute(conn: Conn, project_id: UUID, muted_id: UUID, *, by: str) -> bool:
    """Unmute a sender; return False where there is none of that id."""
    values = {"project_id": project_id, "id": muted_id, "by": by}
    return await fetch.value(conn, sql.UNMUTE_SENDER, values, bool)


async def set_signing(conn: Conn, project_id: UUID, channel_id: UUID, *, sealed: bytes) -> None:
    """Note the signing secret of the app of a channel."""
    values = {"project_id": project_id, "id": channel_id, "sealed": sealed}
    await fetch.run(conn, sql.SET_SLACK_SIGNING, values)


async def find_notification(conn: Conn, notification_id: UUID) -> SigningChannel | None:
    """Return the connected Slack channel of a notification."""
    return await fetch.maybe(
        conn, sql.FIND_SLACK_NOTIFICATION, {"id": notification_id}, SigningChannel
    )


async def press(conn: Conn, channel_id: UUID, pressed: ButtonPress) -> PressedButton:
    """Do what a button says; see `press_slack_button` in SQL."""
    given = {
        "action": pressed.action,
        "workspace": pressed.workspace,
        "person": pressed.person,
        "place": pressed.place,
        "message": pressed.message,
        "at": pressed.at.isoformat(),
    }
    values = {
        "id": pressed.reference,
        "channel_id": channel_id,
        "press": Jsonb(storable_json(given)),
    }
    return await fetch.one(conn, sql.PRESS_SLACK_BUTTON, values, PressedButton)
