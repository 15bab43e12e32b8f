"""SQL of pausing all sending, and of draining workers."""

from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.contract.operations import Pause
from mailqueue.core.mailboxes import wire_domain
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.operations import platform as sql
from mailqueue.operations.model import StoppedEmails


async def current_pause(conn: Conn) -> Pause | None:
    """Return the pause of all sending."""
    return await fetch.maybe(conn, sql.FIND_PLATFORM_PAUSE, None, Pause)


async def pause(conn: Conn, *, until: datetime | timedelta | None, reason: str, by: str) -> int:
    """Pause all sending; return the number of the operation."""
    asked = {
        "until": until if isinstance(until, datetime) else None,
        "wait": until if isinstance(until, timedelta) else None,
        "reason": reason,
        "by": by,
    }
    with refusals():
        return await fetch.value(conn, sql.PAUSE_PLATFORM, asked, int)


async def resume(conn: Conn, *, by: str) -> bool:
    """End the pause of all sending; return False when there was none."""
    return await fetch.value(conn, sql.RESUME_PLATFORM, {"by": by}, bool)


async def count_waiting(
    conn: Conn, project_id: UUID | None, *, kind: str, name: str
) -> StoppedEmails:
    """Return the number of queued emails that a pause would stop, up to a bound."""
    asked = {
        "project_id": project_id,
        "kind": kind,
        "name": wire_domain(name) if kind == "domain" else name,
    }
    return await fetch.one(conn, sql.COUNT_WAITING, asked, StoppedEmails)


async def drain(
    conn: Conn, *, worker: int | None, host: str | None, is_drained: bool, by: str
) -> list[int]:
    """Drain running workers, or let them claim again; return the ids of those changed."""
    asked = {"worker": worker, "host": host, "is_drained": is_drained, "by": by}
    with refusals():
        return await fetch.many(conn, sql.DRAIN_WORKERS, asked, int)
