"""Pausing and resuming, as operators do it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, MarkVerdict
from tests import make
from tests.mail.claim.steps import claim, mark, settle

HOUR = timedelta(hours=1)


async def pause(
    conn: Conn,
    kind: str,
    name: str,
    *,
    wait: timedelta | None = None,
    reason: str | None = None,
    project: str = "default",
) -> int:
    """Pause a target, and move its queued mail to paused lanes."""
    operation: int = await make.scalar(
        conn,
        "SELECT mailqueue.pause_sending(%s, %s, %s, clock_timestamp() + %s::interval, %s, 'ann')",
        kind,
        project,
        name,
        wait,
        reason,
    )
    return operation


async def paused_as_a_whole(conn: Conn) -> UUID:
    """Pause all sending; return a mail that waits."""
    await conn.execute("SELECT mailqueue.pause_platform(NULL, 'an incident', 'ann')")
    return await make.queued_email(conn)


async def set_aside(conn: Conn, operation: int) -> int:
    found: int = await make.scalar(
        conn, "SELECT done FROM mailqueue.continue_operation(%s, NULL, 1000)", operation
    )
    return found


async def resume(conn: Conn, kind: str, name: str, *, project: str = "default") -> bool:
    found: bool = await make.scalar(
        conn, "SELECT mailqueue.resume_sending(%s, %s, %s)", kind, project, name
    )
    return found


async def let_it_end(conn: Conn) -> None:
    """End every pause now."""
    await conn.execute("UPDATE mailqueue.pauses SET until = clock_timestamp()")
    await conn.execute(
        "UPDATE mailqueue.lanes SET blocked_until = clock_timestamp()"
        " WHERE blocked_reason = 'set_aside'"
    )


async def why(conn: Conn, email: UUID) -> str:
    found: str = await make.scalar(conn, "SELECT mailqueue.why(%s)", email)
    return found


async def verdict(conn: Conn, worker: int) -> Any:
    (email,) = await claim(conn, worker)
    found = (await mark(conn, worker, [email]))[email.id].verdict
    if found is MarkVerdict.PAUSED:
        await settle(conn, [email], Ending.DEFER)
    return found
