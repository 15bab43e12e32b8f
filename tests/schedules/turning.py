"""Schedules for tests, and a worker that handles what is due, one turn at a time."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.core.errors import InvalidField
from mailqueue.core.outcome import OUTCOMES, Outcome, Retry
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.queue import store
from mailqueue.queue.handler import Handler
from mailqueue.schedules.handler import ScheduleHandler
from mailqueue.schedules.model import ClaimedRun
from mailqueue.schedules.store import runs as runs_store
from tests import make

RAW = {"to": ["ann@example.com"], "subject": "Hello", "text_body": "Hello Ann"}


async def put(
    conn: Conn, name: str | None = None, *, project: str = "default", **given: Any
) -> UUID:
    """Add a schedule of plain mail by SQL, or change the one of that name; return its id."""
    found: UUID = await make.scalar(
        conn,
        "SELECT mailqueue.put_schedule(%s, %s, %s)",
        project,
        name,
        Jsonb({"payload": RAW} | given),
    )
    return found


async def turn(
    conn: Conn,
    *,
    name: str = "schedules",
    between: Callable[[], Awaitable[None]] | None = None,
) -> int:
    """Claim what is due, handle and settle it; return the number of rows.

    `between` is called when the rows are claimed.
    """
    spec = queue_named(name)
    handler: Handler[Any, Any] = ScheduleHandler()
    worker = await make.worker(conn)
    rows = await store.claim(
        conn,
        spec,
        handler.row,
        worker=worker,
        limit=spec.batch,
        is_alone=False,
        first=spec.batch,
        rooms={},
        loading=handler.claims_by,
    )
    loaded, failed = await _loaded(conn, handler, rows)
    if between is not None:
        await between()
    done = [(row, await handler.handle(row)) for row in loaded]
    outcomes = [*failed, *((row, one) for row, one in done if isinstance(one, OUTCOMES))]
    works = [(row, one) for row, one in done if not isinstance(one, OUTCOMES)]
    await handler.settle(conn, spec, outcomes, works)
    return len(rows)


async def _loaded(
    conn: Conn, handler: Handler[Any, Any], rows: Sequence[Any]
) -> tuple[list[Any], list[tuple[Any, Outcome]]]:
    """Load rows together, or one by one where one of them cannot be, as a worker does."""
    try:
        return list(await handler.load(conn, rows)), []
    except InvalidField:
        loaded, failed = list[Any](), list[tuple[Any, Outcome]]()
        for row in rows:
            try:
                loaded += await handler.load(conn, [row])
            except InvalidField as exc:
                failed.append((row, Retry(str(exc))))
        return loaded, failed


async def make_runs(
    conn: Conn,
    *,
    part: int = 500,
    zones: dict[str, str] | None = None,
    end: str = "done",
    most: int | None = None,
) -> int:
    """Make the mail of all runs that wait, in parts; return the number of parts.

    `end` is what becomes of each. After `most` parts, a run that is not over waits again.
    """
    spec = queue_named("schedule-runs")
    worker = await make.worker(conn)
    rows = await store.claim(
        conn,
        spec,
        ClaimedRun,
        worker=worker,
        limit=100,
        is_alone=False,
        first=100,
        rooms={},
        loading=None,
    )
    parts = 0
    for row in rows:
        state = "more"
        while state == "more" and parts != most:
            state = await runs_store.step(
                conn, row.id, claim_no=row.claim_no, limit=part, zones=zones or {}
            )
            parts += 1
        is_over = state != "more"
        assert not is_over or state == end, state
        await make.scalar(
            conn,
            "UPDATE mailqueue.schedule_runs SET status = %s,"
            " finished_at = CASE WHEN %s THEN now() END,"
            " claim_no = NULL, worker_id = NULL, lease_until = NULL, assigned_at = NULL"
            " WHERE id = %s RETURNING 1",
            end if is_over else "pending",
            is_over,
            row.id,
        )
    return parts


async def due(conn: Conn, schedule_id: UUID, *, ago: timedelta = timedelta(seconds=1)) -> None:
    """Move the next occurrence of a schedule into the past."""
    await make.rows(
        conn,
        "UPDATE mailqueue.schedules SET next_run_at = clock_timestamp() - %s,"
        " run_at = clock_timestamp() - %s, next_local = (clock_timestamp() - %s) AT TIME ZONE 'UTC'"
        " WHERE id = %s RETURNING 1",
        ago,
        ago,
        ago,
        schedule_id,
    )


async def row_of(conn: Conn, schedule_id: UUID) -> dict[str, Any]:
    """Return the row of a schedule."""
    found: dict[str, Any] = await make.scalar(
        conn, "SELECT to_jsonb(s) FROM mailqueue.schedules AS s WHERE id = %s", schedule_id
    )
    return found


async def runs_of(conn: Conn, schedule_id: UUID) -> list[dict[str, Any]]:
    """Return the runs of a schedule, oldest first."""
    query = (
        "SELECT to_jsonb(r) FROM mailqueue.schedule_runs AS r"
        " WHERE schedule_id = %s ORDER BY number"
    )
    return [row[0] for row in await make.rows(conn, query, schedule_id)]


async def queued(conn: Conn) -> int:
    """Return the number of emails in the queue."""
    found: int = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue")
    return found
