"""Registrations of phones as rows."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.watch import registrations as sql


class BegunRegistration(NamedTuple):
    """Whose registration a code was of, with the person's connected WhatsApp channel."""

    project_id: UUID
    user_id: UUID
    source: str
    wording: str
    begun_by: str
    channel_id: UUID | None
    phone_number: str | None
    sender_number: str | None
    twilio_sid: str | None
    is_opted_out: bool | None


async def begin(
    conn: Conn,
    project_id: UUID,
    user_id: UUID,
    *,
    code: bytes,
    source: str,
    wording: str,
    by: str,
) -> datetime:
    """Begin a registration; return the time by which it has to end.

    Raises:
        InvalidField: there is no such person.
    """
    values = {
        "project_id": project_id,
        "user_id": user_id,
        "code": code,
        "source": source,
        "wording": wording,
        "by": by,
    }
    with refusals(otherwise="user_id"):
        async with conn.transaction():
            return await fetch.value(conn, sql.BEGIN_PHONE_REGISTRATION, values, datetime)


async def take(conn: Conn, code: bytes) -> BegunRegistration | None:
    """Use a code once; None if it is unknown, used or over."""
    return await fetch.maybe(conn, sql.TAKE_PHONE_REGISTRATION, {"code": code}, BegunRegistration)


async def find_channels(conn: Conn, *, account: str, sender: str, number: str) -> list[UUID]:
    """Return the connected channels, of all projects, that a reply is about."""
    values = {"account": account, "sender": sender, "number": number}
    return await fetch.many(conn, sql.FIND_PHONE_CHANNELS, values, UUID)
