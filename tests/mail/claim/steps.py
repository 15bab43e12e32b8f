"""The steps of a send worker, one at a time, by the statements that workers use."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.model import ClaimedEmail, Ending, LogStatus, Mark, SendOutcome
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.mail.send.store.outcomes import settle_and_mark
from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings
from tests import make

LEASE = timedelta(minutes=15)
NO_WORKER = 0  # settling asks for the claim, not for the worker
SILENCE = timedelta(seconds=30)


@asynccontextmanager
async def opened(database: DatabaseSettings, count: int) -> AsyncIterator[list[Conn]]:
    """Yield that many connections, each its own session."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(connect(database, application_name=f"test {n}"))
            for n in range(count)
        ]


async def claim(conn: Conn, worker: int, *, limit: int = 100) -> list[ClaimedEmail]:
    """Wake lanes and claim, as workers do."""
    await claims_store.gather_lanes(conn)
    return await claims_store.claim(conn, worker, limit=limit, lease=LEASE)


async def are_lanes_ready(conn: Conn, *, avoid: Sequence[int] = ()) -> bool:
    """Return whether a claim could take mail now, as the last row of a claim says."""
    asked = "SELECT mailqueue.are_lanes_ready(%s)"
    return bool(await make.scalar(conn, asked, list(avoid)))


async def mark(
    conn: Conn, worker: int, emails: Sequence[ClaimedEmail], *, opened: Sequence[ClaimedEmail] = ()
) -> dict[UUID, Mark]:
    before = [(email.id, email.claim_no) for email in opened]
    marks = (await settle_and_mark(conn, worker, new=emails, opened=before)).marks
    return {} if marks.are_lost else {email.id: marks.of(email.id) for email in emails}


def outcome(email: ClaimedEmail, ending: Ending, **more: Any) -> SendOutcome:
    spent = email.recipients if ending is Ending.SENT else 0
    return SendOutcome(
        **{"id": email.id, "claim_no": email.claim_no, "ending": ending, "spent": spent, **more}
    )


async def settle(
    conn: Conn, emails: Sequence[ClaimedEmail], ending: Ending = Ending.SENT, **more: Any
) -> list[UUID]:
    """Return the ids whose claim had moved on."""
    outcomes = [outcome(email, ending, **more) for email in emails]
    return (await settle_and_mark(conn, NO_WORKER, settled=outcomes)).moved_on


async def sent(conn: Conn, emails: Sequence[ClaimedEmail]) -> list[UUID]:
    return await settle(conn, emails, Ending.SENT, log=LogStatus.SENT)


async def due_now(conn: Conn) -> None:
    """Make every waiting mail due, and unblock every lane."""
    await conn.execute(
        "UPDATE mailqueue.email_queue SET run_at = now() - interval '1 s' WHERE status = 'pending'"
    )
    await conn.execute(
        "UPDATE mailqueue.lanes SET blocked_until = now(), probed_at = '-infinity'"
        " WHERE blocked_until IS NOT NULL"
    )


async def end_waits(conn: Conn, reasons: str, *, of: str = "lanes") -> None:
    """End what lanes or limits wait for, where a condition on `blocked_reason` holds.

    Several sessions may do so beside claims: rows are locked in the order in which claims lock
    limits, and lanes that are taken are left alone, so that no deadlock comes of it.
    """
    skipped = " SKIP LOCKED" if of == "lanes" else ""
    await conn.execute(
        f"WITH waiting AS (SELECT id FROM mailqueue.{of} WHERE {reasons}"
        f"   ORDER BY id FOR NO KEY UPDATE{skipped})"
        f" UPDATE mailqueue.{of} AS t SET blocked_until = clock_timestamp()"
        "   FROM waiting AS w WHERE t.id = w.id"
    )


async def rest_is_over(conn: Conn) -> None:
    """End the rest of accounts whose server failed or limited them, and of their lanes."""
    for table in ("limits", "lanes"):
        over = "('unreachable', 'limited', 'circuit', 'half_open', 'recheck')"
        await end_waits(conn, f"blocked_reason IN {over}", of=table)
    await conn.execute(
        "UPDATE mailqueue.limits SET circuit_held_until = NULL"  # one row: one circuit is open
        " WHERE circuit_held_until IS NOT NULL AND circuit_probe_claim IS NULL"
    )


async def beat(conn: Conn, worker: int) -> bool:
    """Send a heartbeat of a worker that has seen nothing; return False if it was declared lost."""
    launch = await make.scalar(
        conn, "SELECT launch_id FROM mailqueue.workers WHERE id = %s", worker
    )
    answer = await kernel.beat(
        conn, worker, is_stopping=False, launch_id=launch, seen=None, marks=0
    )
    return answer.is_known


async def lose(conn: Conn, worker: int) -> int:
    """Let a worker fall silent and declare it lost; return the number of returned mails."""
    await make.silent(conn, worker)
    return await kernel.rescue(conn, silence=SILENCE)


@dataclass(frozen=True, slots=True)
class Counted:
    """Today's counter of one limit."""

    sent: int
    reserved: int
    tokens: float


async def counted(conn: Conn, account: int | None = None, *, project: str = "default") -> Counted:
    """Read the counter of an account, or of the project itself."""
    row = await make.rows(
        conn,
        "SELECT c.sent, c.reserved, c.tokens::float8 FROM mailqueue.limits AS m"
        " JOIN mailqueue.limit_counters AS c ON c.limit_id = m.id"
        " JOIN mailqueue.projects AS p ON p.id = m.project_id"
        " WHERE p.name = %s AND m.sender_account_id IS NOT DISTINCT FROM %s::integer",
        project,
        account,
    )
    assert len(row) == 1
    return Counted(*row[0])


async def lane(conn: Conn, priority: int = 2, route: str = "") -> tuple[bool, str | None]:
    """Return whether a lane of the default project is ready, and otherwise the reason."""
    rows = await make.rows(
        conn,
        "SELECT l.blocked_until IS NULL, l.blocked_reason FROM mailqueue.lanes AS l"
        " JOIN mailqueue.projects AS p ON p.id = l.project_id AND p.name = 'default'"
        " WHERE l.priority = %s AND l.route = %s",
        priority,
        route,
    )
    return rows[0][0], rows[0][1]


async def row(conn: Conn, email: UUID, columns: str) -> tuple[Any, ...]:
    """Read columns of one queued mail."""
    found = await make.rows(
        conn, f"SELECT {columns} FROM mailqueue.email_queue WHERE id = %s", email
    )
    assert len(found) == 1, "it is not in the queue"
    return found[0]


async def difference(conn: Conn) -> int:
    """Return the difference in the books."""
    total = await make.scalar(conn, "SELECT coalesce(sum(abs(difference)), 0) FROM mailqueue.books")
    return int(total)


async def is_waiting(conn: Conn, other: Conn) -> bool:
    """Return whether the other session waits for a lock."""
    # By name: behind a pooler the process id a client is told is not that of its session.
    return bool(
        await make.scalar(
            conn,
            "SELECT coalesce(bool_or(cardinality(pg_blocking_pids(pid)) > 0), false)"
            " FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = %s",
            other.info.parameter_status("application_name"),
        )
    )


async def until_waiting(conn: Conn, other: Conn) -> None:
    """Wait until the other session waits for a lock."""
    for _ in range(3000):
        if await is_waiting(conn, other):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the other session never waited for a lock")
