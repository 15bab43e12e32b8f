"""Channels of WhatsApp as rows."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.core.storable_text import storable_json
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.watch import whatsapp as sql
from mailqueue.ports.channel import MessageReport


class SealedChannel(NamedTuple):
    """A channel that a request may be about, with its sealed token."""

    id: UUID
    project_id: UUID
    sealed: bytes


async def add(
    conn: Conn,
    project_id: UUID,
    channel_id: UUID,
    *,
    user_id: UUID,
    sealed: bytes,
    new: Mapping[str, str | datetime | None],
    by: str,
) -> bool:
    """Add a channel with the consent; return False where the person has a connected one.

    Raises:
        InvalidField: a field is invalid.
    """
    shown = {key: one.isoformat() if isinstance(one, datetime) else one for key, one in new.items()}
    values = {
        "project_id": project_id,
        "id": channel_id,
        "user_id": user_id,
        "sealed": sealed,
        "new": Jsonb(storable_json(shown)),
        "by": by,
    }
    with refusals(otherwise="phone_number"):
        async with conn.transaction():
            return await fetch.value(conn, sql.ADD_WHATSAPP_CHANNEL, values, bool)


async def reconnect(
    conn: Conn,
    project_id: UUID,
    channel_id: UUID,
    *,
    sealed: bytes,
    template_sid: str | None,
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
        "template_sid": template_sid,
        "by": by,
    }
    with refusals(otherwise="template_sid"):
        async with conn.transaction():
            return await fetch.value(conn, sql.RECONNECT_WHATSAPP_CHANNEL, values, bool)


async def find_channels(
    conn: Conn, project_id: UUID, *, account: str, sender: str, number: str
) -> list[SealedChannel]:
    """Return the connected channels that a reply is about."""
    values = {"project_id": project_id, "account": account, "sender": sender, "number": number}
    return await fetch.many(conn, sql.FIND_WHATSAPP_CHANNELS, values, SealedChannel)


async def find_notification(
    conn: Conn, project_id: UUID, notification_id: UUID
) -> list[SealedChannel]:
    """Return the connected channel of a notification, if there is one."""
    values = {"project_id": project_id, "id": notification_id}
    return await fetch.many(conn, sql.FIND_WHATSAPP_NOTIFICATION, values, SealedChannel)


async def record_receipt(
    conn: Conn, channel_id: UUID, notification_id: UUID, report: MessageReport
) -> bool:
    """Record what is reported of a message; return whether it changes anything."""
    values = {
        "channel_id": channel_id,
        "id": notification_id,
        "message": report.message,
        "report": Jsonb(
            {"word": report.word, "meaning": report.meaning.value, "reason": report.reason}
        ),
    }
    found = await fetch.value(conn, sql.RECORD_RECEIPT, values, bool)
    # Of a request that is repeated because this process died in between, too.
    place = {"channel_id": channel_id, "id": notification_id}
    await fetch.run(conn, sql.SETTLE_RECEIPTS, place)
    return found


async def record_reply(
    conn: Conn, channel_id: UUID, message: str, *, is_out: bool, word: str | None
) -> str:
    """Record a reply of a person; see `record_whatsapp_reply` in SQL."""
    values = {"channel_id": channel_id, "message": message, "is_out": is_out, "word": word}
    return await fetch.value(conn, sql.RECORD_WHATSAPP_REPLY, values, str)
