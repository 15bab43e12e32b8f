"""The statements of the queue kernel: workers, heartbeats, rescue, waiters, rows of queues."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import NamedTuple, Protocol, TypeVar, cast
from uuid import UUID

from psycopg import DatabaseError, Rollback
from psycopg.errors import ObjectNotInPrerequisiteState
from psycopg.sql import SQL as TEXT
from psycopg.sql import Composable, Identifier

from mailqueue.core.errors import LeaseLost
from mailqueue.core.outcome import Outcome
from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.storable_text import storable
from mailqueue.db import arrays, fetch
from mailqueue.db.faults import concerns_rows, may_be_of_a_row
from mailqueue.db.fetch import Conn
from mailqueue.db.sql import ManyRows, Statement
from mailqueue.db.statements import queue as sql
from mailqueue.queue.outcomes import outcome_values
from mailqueue.queue.rows import Claim, Row
from mailqueue.telemetry.log import get_logger

ROW_STATEMENTS: tuple[Statement, ...] = (
    sql.CLAIM_ROWS,
    sql.SETTLE_ROWS,
    sql.RELEASE_ROWS,
    sql.RENEW_ROWS,
    sql.SUSPECT_ROWS,
    sql.REQUEUE_ROWS,
)
"""Statements that call a function of a queue table; their name begins with the function's verb."""
S = TypeVar("S", bound=Statement)
Undo = Rollback
"""Raised inside a transaction: it ends without its writes, and the program goes on after it."""

log = get_logger(__name__)


async def start_worker(
    conn: Conn,
    *,
    kind: str,
    host: str,
    pid: int,
    version: str,
    launch_id: UUID,
    queues: Sequence[str] = (),
) -> int:
    """Register this process; return its worker id."""
    values = {
        "kind": kind,
        "host": host,
        "pid": pid,
        "version": version,
        "launch_id": launch_id,
        "queues": arrays.texts(queues),
    }
    return await fetch.value(conn, sql.START_WORKER, values, int)


async def count_registered(conn: Conn, *, launch_ids: Sequence[UUID]) -> int:
    """Return how many of these starts of processes have registered."""
    return await fetch.value(conn, sql.COUNT_REGISTERED, {"launch_ids": list(launch_ids)}, int)


class ServerSeen(NamedTuple):
    """What a process has seen of the database, for its next comparison, and why no mail is sent."""

    seen: str | None
    refusal: str | None
    """None: mail is sent."""


class Beat(NamedTuple):
    """The answer to a heartbeat."""

    is_known: bool
    """False: the worker was declared lost."""
    seen: str | None
    refusal: str | None


async def beat(
    conn: Conn, worker: int, *, is_stopping: bool, launch_id: UUID, seen: str | None, marks: int
) -> Beat:
    """Record a heartbeat, and compare what the worker has seen with the database.

    `seen` is what the last heartbeat returned, `marks` the number of acknowledged commits of this
    worker that marked emails.
    """
    values = {
        "worker": worker,
        "is_stopping": is_stopping,
        "launch_id": launch_id,
        "seen": seen,
        "marks": marks,
    }
    return await fetch.one(conn, sql.BEAT, values, Beat)


async def see_server(conn: Conn, seen: str | None) -> ServerSeen:
    """Compare what a process without a heartbeat has seen with the database."""
    return await fetch.one(conn, sql.SEE_SERVER, {"seen": seen}, ServerSeen)


async def stop_worker(conn: Conn, worker: int) -> None:
    """Unregister the worker; emails it still holds return to the queue."""
    await fetch.run(conn, sql.STOP_WORKER, {"worker": worker})


async def rescue(conn: Conn, *, silence: timedelta, launch_id: UUID | None = None) -> int:
    """Requeue the emails of lost workers and of a launch known to be dead; return how many."""
    values = {"silence": silence, "launch_id": launch_id}
    return await fetch.value(conn, sql.RESCUE_EMAILS, values, int)


async def watch_rates(conn: Conn) -> int:
    """Pause sender accounts that have too many bounces or complaints; return their number."""
    return await fetch.value(conn, sql.WATCH_RATES, None, int)


async def send_notices(conn: Conn) -> int:
    """Mail new notices for administrators and queue them for webhooks; return how many causes."""
    return await fetch.value(conn, sql.SEND_NOTICES, None, int)


async def note_sender_use(conn: Conn) -> int:
    """Write into sender accounts when they were last used; return how many had been used."""
    return await fetch.value(conn, sql.NOTE_SENDER_USE, None, int)


async def park(conn: Conn, queue: str, worker: int) -> None:
    """Ask for a NOTIFY when the queue gets work."""
    await fetch.run(conn, sql.PARK_WORKER, {"queue": queue, "worker": worker})


async def unpark(conn: Conn, queue: str, worker: int) -> None:
    """Ask for no more notifications."""
    await fetch.run(conn, sql.UNPARK_WORKER, {"queue": queue, "worker": worker})


class _OfTable(Protocol):
    def __call__(self, spec: QueueSpec, shared: S, columns: tuple[str, ...] = ()) -> S: ...


@cache
def _statement(spec: QueueSpec, shared: Statement, columns: tuple[str, ...] = ()) -> Statement:
    verb = shared.name.removesuffix("_rows")
    slots: dict[str, Composable] = {verb: Identifier("mailqueue", f"{verb}_{spec.table}")}
    if columns:
        slots["columns"] = TEXT(", ").join(Identifier("q", column) for column in columns)
    return replace(shared, query=shared.format(**slots).query)


statement = cast("_OfTable", _statement)  # `cache` forgets the type of what is given
"""Return a statement of ROW_STATEMENTS for the functions of one queue table."""


async def isolate_claim(conn: Conn, table: str) -> None:
    """Let claims of this transaction leave out each row whose change is refused, and note it."""
    await fetch.run(conn, sql.ISOLATE_CLAIM, {"table_name": table})


async def claim(
    conn: Conn,
    spec: QueueSpec,
    row: type[Row],
    *,
    worker: int,
    limit: int,
    is_alone: bool = False,
    first: int = 0,
    rooms: Mapping[str, int] | None = None,
    loading: ManyRows | None = None,
) -> list[Row]:
    """Claim due rows; `rooms` are how many of each key this process takes, `first` of others.

    `loading` is a statement of the queue's own that claims rows and reads what they need. Where
    something that one row needs cannot be read, rows are claimed without it; where the change of
    one row is refused, the others are claimed.

    Raises:
        LeaseLost: the worker was declared lost, or has left.
    """
    values = {
        "worker": worker,
        "limit": limit,
        "lease": spec.lease,
        "alone": is_alone,
        "first": first,
        "keys": arrays.texts(rooms or ()),
        "rooms": arrays.integers((rooms or {}).values()),
    }
    defaults: Mapping[str, object] = getattr(row, "_field_defaults", {})
    fields = tuple(name for name in getattr(row, "_fields", ()) if name not in defaults)
    plain = statement(spec, sql.CLAIM_ROWS, fields)
    try:
        try:
            return await fetch.many(conn, loading or plain, values, row)
        except Exception as exc:
            if loading is None or not concerns_rows(exc):
                raise
            log.warning("queue.unreadable", queue=spec.name, error=str(exc).partition("\n")[0])
            return await fetch.many(conn, plain, values, row)
    except DatabaseError as exc:
        if isinstance(exc, ObjectNotInPrerequisiteState):
            raise LeaseLost(f"worker {worker} was declared lost") from exc
        if not may_be_of_a_row(exc):
            raise
        log.warning("queue.refused", queue=spec.name, error=str(exc).partition("\n")[0])
    try:
        async with conn.transaction():
            await isolate_claim(conn, spec.table)
            return await fetch.many(conn, plain, values, row)
    except ObjectNotInPrerequisiteState as exc:
        raise LeaseLost(f"worker {worker} was declared lost") from exc


async def settle(conn: Conn, spec: QueueSpec, ended: Sequence[tuple[Claim, Outcome]]) -> set[UUID]:
    """Write the outcomes of claimed rows; return the ids whose claim no longer holds.

    Raises:
        ValueError: an outcome has values of columns that the queue does not write.
    """
    if not ended:
        return set()
    values = outcome_values(spec, ended)
    return set(await fetch.many(conn, statement(spec, sql.SETTLE_ROWS), values, UUID))


async def renew(conn: Conn, spec: QueueSpec, rows: Sequence[Claim]) -> int:
    """Extend the leases of claimed rows; return how many claims still hold."""
    values = {
        "ids": arrays.uuids([row.id for row in rows]),
        "claims": arrays.integers([row.claim_no for row in rows]),
        "lease": spec.lease,
    }
    return await fetch.value(conn, statement(spec, sql.RENEW_ROWS), values, int)


async def release(conn: Conn, spec: QueueSpec, worker: int, *, held: Sequence[UUID]) -> int:
    """Return the rows that are assigned to a worker and that it does not hold; return how many."""
    values = {"worker": worker, "held": arrays.uuids(held)}
    return await fetch.value(conn, statement(spec, sql.RELEASE_ROWS), values, int)


async def suspected(conn: Conn, queues: Sequence[str]) -> list[str]:
    """Return those of the queues that have due rows whose worker stopped before."""
    return await fetch.many(conn, sql.SUSPECTED_QUEUES, {"queues": arrays.texts(queues)}, str)


async def unattended(conn: Conn, queues: Sequence[str]) -> list[str]:
    """Return those of the queues that have due rows and no running worker."""
    values = {"queues": arrays.texts(queues)}
    return await fetch.many(conn, sql.UNATTENDED_QUEUES, values, str)


async def suspect(
    conn: Conn,
    spec: QueueSpec,
    rows: Sequence[tuple[UUID, int]],
    *,
    is_alone: bool,
    reason: str,
) -> int:
    """Count a death of their worker on rows whose handling had begun; return how many held."""
    values = {
        "ids": arrays.uuids([row_id for row_id, _ in rows]),
        "claims": arrays.integers([claim_no for _, claim_no in rows]),
        "alone": is_alone,
        "reason": storable(reason),
    }
    return await fetch.value(conn, statement(spec, sql.SUSPECT_ROWS), values, int)


async def suspect_emails(
    conn: Conn, rows: Sequence[tuple[UUID, int]], *, is_alone: bool, reason: str
) -> int:
    """Count a death of their worker on emails whose handling had begun; return how many held."""
    values = {
        "ids": arrays.uuids([row_id for row_id, _ in rows]),
        "claims": arrays.integers([claim_no for _, claim_no in rows]),
        "alone": is_alone,
        "reason": storable(reason),
    }
    return await fetch.value(conn, sql.SUSPECT_EMAILS, values, int)


async def requeue(
    conn: Conn, spec: QueueSpec, ids: Sequence[UUID], *, project_id: UUID | None = None, by: str
) -> int:
    """Queue rows again that failed, were cancelled or are held; return how many."""
    values = {"project": project_id, "ids": arrays.uuids(ids), "by": by}
    return await fetch.value(conn, statement(spec, sql.REQUEUE_ROWS), values, int)
