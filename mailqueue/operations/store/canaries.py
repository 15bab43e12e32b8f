"""SQL of canaries."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from mailqueue.contract.infrastructure import Canary
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.operations import canaries as sql


class SentCanary(NamedTuple):
    """When the next email of a canary is due; `reason` says why there is none now."""

    id: UUID
    next_at: datetime
    reason: str | None


async def put(
    conn: Conn, project: str, sender: str, *, recipient: str, every: timedelta, by: str
) -> None:
    """Send an email by a sender account at an interval, or change that.

    Raises:
        InvalidField: a field is invalid.
    """
    asked = {"project": project, "sender": sender, "recipient": recipient, "every": every, "by": by}
    with refusals():
        await fetch.run(conn, sql.PUT_CANARY, asked)


async def remove(conn: Conn, project: str, sender: str, *, by: str) -> bool:
    """Send no more by a sender account; return False if none were sent.

    Raises:
        InvalidField: there is no such project.
    """
    asked = {"project": project, "sender": sender, "by": by}
    with refusals():
        return await fetch.value(conn, sql.REMOVE_CANARY, asked, bool)


async def list_all(conn: Conn) -> list[Canary]:
    """Return the canaries, by project and sender account."""
    return await fetch.many(conn, sql.LIST_CANARIES, None, Canary)


async def send(conn: Conn, ids: Sequence[UUID]) -> dict[UUID, SentCanary]:
    """Queue an email of each canary, in the caller's transaction."""
    found = await fetch.many(conn, sql.SEND_CANARIES, {"ids": list(ids)}, SentCanary)
    return {one.id: one for one in found}
