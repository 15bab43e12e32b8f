"""Marketing mail, quiet hours and caps for tests."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, MarkVerdict
from tests import make
from tests.mail.claim.steps import claim, due_now, mark, settle


async def change(conn: Conn, project: str = "default", **settings: str | None) -> None:
    """Change settings of a project, as its administrators do."""
    await make.scalar(
        conn, "SELECT mailqueue.change_project(%s, %s::jsonb)", project, json.dumps(settings)
    )


async def now(conn: Conn) -> datetime:
    found: datetime = await make.scalar(conn, "SELECT clock_timestamp()")
    return found


async def around_now(conn: Conn, zone: str = "UTC", *, since: int = -60, until: int = 60) -> str:
    """Return quiet hours between two moments, in minutes from now, in a time zone."""
    at = await now(conn)
    begin, end = (
        (at + timedelta(minutes=minutes)).astimezone(ZoneInfo(zone)) for minutes in (since, until)
    )
    return f"{begin:%H:%M}-{end:%H:%M}"


async def marketing(conn: Conn, email: str = "ann@example.com", **columns: object) -> UUID:
    """Queue a marketing mail."""
    await conn.execute("UPDATE mailqueue.projects SET require_postal_address = false")
    return await make.queued_email(conn, recipient_email=email, category="marketing", **columns)


async def handled(conn: Conn, worker: int, *, limit: int = 100) -> Sequence[UUID]:
    """Claim due mail and send what may be sent, as a worker does; return the ids that were sent."""
    claimed = await claim(conn, worker, limit=limit)
    marks = await mark(conn, worker, claimed)
    going = [each for each in claimed if marks[each.id].verdict is MarkVerdict.GO]
    waiting = [each for each in claimed if marks[each.id].verdict is MarkVerdict.PAUSED]
    await settle(conn, waiting, Ending.DEFER)
    await settle(conn, going, Ending.SENT)
    return [each.id for each in going]


async def waits(conn: Conn, email: UUID) -> tuple[datetime, str]:
    """Return until when a queued mail waits, and why."""
    query = "SELECT run_at, last_error FROM mailqueue.email_queue WHERE id = %s"
    [(until, reason)] = await make.rows(conn, query, email)
    return until, reason


async def later(conn: Conn, **span: int) -> None:
    """Make it so much later: what counts happened so much earlier, and waiting mail is due."""
    await conn.execute(
        "UPDATE mailqueue.marketing_counts AS m SET counted_at ="
        " ARRAY(SELECT t.at - %s FROM unnest(m.counted_at) WITH ORDINALITY AS t(at, n) ORDER BY n)",
        (timedelta(**span),),
    )
    await due_now(conn)


async def in_quiet_hours(conn: Conn) -> UUID:
    """Return a mail of project shop that waits for the end of quiet hours."""
    return await _held_back(conn, quiet_hours=await around_now(conn))


async def above_the_cap(conn: Conn) -> UUID:
    """Return a mail of project shop that waits as its recipient has had as many as there may be."""
    return await _held_back(conn, frequency_cap="1/7d")


async def _held_back(conn: Conn, **setting: str) -> UUID:
    project = await make.project(conn, "shop", **setting)
    await make.sender_account(conn, project_id=project)
    two = [await marketing(conn, project="shop") for _ in range(2)]
    sent = await handled(conn, await make.worker(conn))
    return next(email for email in two if email not in sent)


HELD_BACK = {"quiet hours": in_quiet_hours, "frequency cap": above_the_cap}
"""What makes a mail that waits, by why it does."""
