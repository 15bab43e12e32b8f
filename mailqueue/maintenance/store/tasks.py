"""SQL of maintenance tasks, except the archive's."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from uuid import UUID

from psycopg import errors, sql

from mailqueue.core.errors import Unavailable
from mailqueue.core.retention import Retained
from mailqueue.core.storable_text import storable
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.sql import NoRows
from mailqueue.db.statements.maintenance import records as records_sql
from mailqueue.db.statements.maintenance import tasks as tasks_sql
from mailqueue.db.statements.projects import rate_limit as rate_limit_sql
from mailqueue.maintenance.model import (
    ExpiringKey,
    Partition,
    ProjectItem,
    ShortestRetention,
    Swept,
    Task,
    TaskReport,
    VacuumNeed,
    WarmUp,
)

# A reader of the table, or a concurrent change of it.
_IN_THE_WAY = (
    errors.LockNotAvailable,
    errors.ObjectNotInPrerequisiteState,
    errors.ObjectInUse,
    errors.DeadlockDetected,
)


@contextmanager
def locks_told() -> Iterator[None]:
    """Raise Unavailable in place of a lock timeout: the next run retries."""
    try:
        yield
    except _IN_THE_WAY as exc:
        raise Unavailable(
            f"another session holds a lock ({exc.diag.message_primary}): the next run continues"
        ) from exc


async def note_run(conn: Conn, task: Task, report: TaskReport, *, took: timedelta) -> None:
    """Record a run of a task; the next one is due after its interval."""
    text = "; ".join((report.summary, *report.needs))
    noted = {"task": task.value, "report": storable(text), "took": took}
    await fetch.run(conn, tasks_sql.NOTE_MAINTENANCE_RUN, noted)


async def set_up_session(conn: Conn) -> None:
    """Remove the statement timeout, and set a short lock timeout."""
    await fetch.run(conn, tasks_sql.SET_UP_SESSION)


async def today(conn: Conn) -> date:
    """Return today's date of the database, in UTC."""
    return await fetch.value(conn, tasks_sql.TODAY, None, date)


async def shortest_stays(conn: Conn) -> dict[str, int]:
    """Return the shortest retention in the table of each kind, over all projects, in days."""
    found = await fetch.many(conn, records_sql.LIST_SHORTEST_STAYS, None, ShortestRetention)
    return {each.kind: each.days for each in found}


async def ensure_months_ahead(conn: Conn, months: int) -> int:
    """Create the partitions of the coming months; return how many were missing."""
    return await fetch.value(conn, tasks_sql.ENSURE_MONTHS_AHEAD, {"months": months}, int)


async def make_partitions_of(conn: Conn, month: date) -> int:
    """Create the partitions of a month, or attach those that were being dropped."""
    return await fetch.value(conn, tasks_sql.MAKE_PARTITIONS_OF, {"month": month}, int)


async def days_ahead(conn: Conn) -> int:
    """Return the number of days ahead for which there are partitions."""
    return await fetch.value(conn, tasks_sql.COUNT_MONTHS_AHEAD, None, int)


async def partitions(conn: Conn) -> list[Partition]:
    """Return monthly partitions, including detached ones, oldest first."""
    return await fetch.many(conn, tasks_sql.LIST_PARTITIONS, None, Partition)


async def partition_named(conn: Conn, name: str) -> Partition:
    """Return the current state of a partition."""
    return next(each for each in await partitions(conn) if each.name == name)


async def is_empty(conn: Conn, partition: Partition) -> bool:
    """Return whether a table has no row."""
    return await fetch.value(conn, tasks_sql.IS_PARTITION_EMPTY, {"name": partition.name}, bool)


async def detach(conn: Conn, partition: Partition) -> bool:
    """Begin to detach a partition; return False where another lock is in the way."""
    return await _change(conn, tasks_sql.DETACH_PARTITION, partition)


async def finish_detaching(conn: Conn, partition: Partition) -> bool:
    """Finish detaching a partition; return False where another lock is in the way."""
    return await _change(conn, tasks_sql.FINISH_DETACHING, partition)


async def drop(conn: Conn, partition: Partition) -> bool:
    """Drop a detached partition; return False where another lock is in the way."""
    return await _change(conn, tasks_sql.DROP_DETACHED, partition)


async def gather_signals(conn: Conn) -> int:
    """Gather signals as workers do; return their number, or -1 while a worker does."""
    return await fetch.value(conn, tasks_sql.GATHER_SIGNALS, None, int)


async def roll_days_over(conn: Conn) -> int:
    """Close the counts of past days; return the number of limits."""
    return await fetch.value(conn, tasks_sql.ROLL_DAYS_OVER, None, int)


async def recount_usage(conn: Conn) -> int:
    """Compare what projects use with the tables, where that is due; return the number of projects
    that were corrected.
    """
    return await fetch.value(conn, tasks_sql.RECOUNT_USAGE, None, int)


async def sweep_balanced_days(conn: Conn) -> int:
    """Delete the books of days without remaining mail; return the number of days."""
    return await fetch.value(conn, tasks_sql.SWEEP_BALANCED_DAYS, None, int)


async def sweep_waiters(conn: Conn) -> int:
    """Delete waiting workers that no longer run; return their number."""
    return await fetch.value(conn, tasks_sql.SWEEP_WAITERS, None, int)


async def count_pages(conn: Conn, table: str) -> int:
    """Return how many pages a table has."""
    return await fetch.value(conn, tasks_sql.COUNT_PAGES, {"name": f"mailqueue.{table}"}, int)


async def sweep_answers(conn: Conn) -> int:
    """Delete stored responses of idempotent requests after a day; return their number."""
    return await fetch.run(conn, rate_limit_sql.SWEEP_ANSWERS)


async def sweep_request_buckets(conn: Conn) -> int:
    """Delete the rate limit buckets of keys unused for a day; return their number."""
    return await fetch.run(conn, rate_limit_sql.SWEEP_REQUEST_BUCKETS)


async def sweep_idempotency_keys(conn: Conn, *, from_page: int, until_page: int) -> int:
    """Delete old idempotency keys on some pages; return their number."""
    asked = {"from_page": from_page, "until_page": until_page}
    return await fetch.value(conn, tasks_sql.SWEEP_IDEMPOTENCY_KEYS, asked, int)


async def sweep_retained(conn: Conn, one: Retained) -> int:
    """Delete a batch of records of a kind past retention; return their number."""
    return await fetch.value(
        conn, tasks_sql.SWEEP_RETAINED, {"kind": one.kind, "most": one.batch}, int
    )


async def sweep_webhooks(conn: Conn, *, after: UUID | None) -> Swept:
    """Delete a batch of webhook deliveries after an id."""
    return await fetch.one(conn, tasks_sql.SWEEP_WEBHOOKS, {"after": after}, Swept)


async def sweep_webhook_events(conn: Conn) -> int:
    """Delete a batch of webhook events; return their number."""
    return await fetch.value(conn, tasks_sql.SWEEP_WEBHOOK_EVENTS, None, int)


async def end_warm_ups(conn: Conn, *, by: str) -> list[ProjectItem]:
    """End the warm-up of accounts that finished it; return them."""
    return await fetch.many(conn, tasks_sql.END_WARM_UPS, {"by": by}, ProjectItem)


async def warm_ups(conn: Conn) -> list[WarmUp]:
    """Return accounts in warm-up today."""
    return await fetch.many(conn, tasks_sql.LIST_WARM_UPS, None, WarmUp)


async def expire_api_keys(conn: Conn, *, by: str) -> list[ProjectItem]:
    """Revoke expired keys; return them."""
    return await fetch.many(conn, tasks_sql.EXPIRE_API_KEYS, {"by": by}, ProjectItem)


async def expiring_keys(conn: Conn, *, days: int) -> list[ExpiringKey]:
    """Return keys that expire within `days` days."""
    return await fetch.many(conn, tasks_sql.LIST_EXPIRING_KEYS, {"days": days}, ExpiringKey)


async def changed_tables(conn: Conn) -> list[str]:
    """Return tables with outdated statistics."""
    return await fetch.many(conn, tasks_sql.LIST_CHANGED_TABLES, None, str)


async def analyze(conn: Conn, table: str) -> bool:
    """Analyze a table; return False where another lock is in the way."""
    statement = tasks_sql.ANALYZE_TABLE.format(table=sql.Identifier("mailqueue", table))
    try:
        await fetch.run(conn, statement)
    except _IN_THE_WAY:
        return False
    return True


async def vacuum_needs(conn: Conn, *, dead: int, age: int) -> list[VacuumNeed]:
    """Return tables with more dead rows than `dead`, or a transaction ID older than `age`."""
    return await fetch.many(
        conn, tasks_sql.LIST_VACUUM_NEEDS, {"dead": dead, "age": age}, VacuumNeed
    )


async def horizon_holders(conn: Conn, *, seconds: float) -> list[str]:
    """Return descriptions of what has kept dead rows for that long, longest first."""
    asked = {"older_than": timedelta(seconds=seconds)}
    async with conn.transaction():
        # The owner cannot see other sessions; the login role may.
        await fetch.run(conn, tasks_sql.RESET_ROLE)
        return await fetch.many(conn, tasks_sql.LIST_HORIZON_HOLDERS, asked, str)


async def _change(conn: Conn, statement: NoRows, partition: Partition) -> bool:
    slots = {
        "parent": sql.Identifier("mailqueue", partition.parent),
        "partition": sql.Identifier("mailqueue", partition.name),
    }
    try:
        await fetch.run(conn, statement.format(**slots))
    except _IN_THE_WAY:
        return False
    return True
