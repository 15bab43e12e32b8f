"""Run tasks one after the other, each under a lease that one process holds at a time."""

import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from types import MappingProxyType

from mailqueue.core.errors import Conflict, MailqueueError, Unavailable
from mailqueue.db import leases
from mailqueue.db.fetch import Conn
from mailqueue.db.leases import Holder, Lease
from mailqueue.db.migrate import require_current
from mailqueue.db.pool import connect
from mailqueue.db.reported import reported
from mailqueue.db.roles import become_owner, check_sessions
from mailqueue.maintenance import audit, counters, keys, partitions, retention, statistics, warm_up
from mailqueue.maintenance.archive import task as archive_task
from mailqueue.maintenance.context import LoadMasterKey, MaintenanceContext, Stores
from mailqueue.maintenance.model import Advance, Task, TaskReport, TaskResult
from mailqueue.maintenance.store import tasks as tasks_store
from mailqueue.settings.environment import DatabaseSettings

APPLICATION = "mailqueue/maintain"
_WORK: Mapping[Task, Callable[[MaintenanceContext], Awaitable[TaskReport]]] = MappingProxyType(
    {
        Task.PARTITIONS: partitions.run,
        Task.COUNTERS: counters.run,
        Task.WARM_UP: warm_up.run,
        Task.KEYS: keys.run,
        Task.RETENTION: retention.run,
        Task.ARCHIVE: archive_task.run,
        Task.AUDIT: audit.run,
        Task.ANALYZE: statistics.analyze,
        Task.VACUUM: statistics.advise,
    }
)
PURPOSE_BY_TASK: Mapping[Task, str] = MappingProxyType(
    {
        Task.PARTITIONS: "create coming monthly partitions, drop empty old ones",
        Task.COUNTERS: "move counters to a new day, count accepted email",
        Task.WARM_UP: "end finished warm-ups, report those with many bounces",
        Task.KEYS: "revoke expired API keys, report those that expire soon",
        Task.RETENTION: "delete records past retention that are not archived",
        Task.ARCHIVE: "archive old months, move old files to the cold store, delete expired files",
        Task.AUDIT: "seal the audit log, delete its rows past retention",
        Task.ANALYZE: "update the planner's statistics of changed tables",
        Task.VACUUM: "report what keeps dead rows, and tables that need a vacuum",
    }
)


async def run(
    context: MaintenanceContext, tasks: Sequence[Task], *, tell: Callable[[TaskResult], None]
) -> list[TaskResult]:
    """Run tasks in order; `tell` is called with each result. A failure does not stop the next
    task.
    """
    done = []
    for task in tasks:
        done.append(await _run_one(context, task))
        tell(done[-1])
    return done


async def _run_one(context: MaintenanceContext, task: Task) -> TaskResult:
    lease = await _taken(context, task)
    if isinstance(lease, Holder):
        return TaskResult(task, TaskReport(f"another process is running it: {lease}"), is_busy=True)
    try:
        async with _held(context, task, lease):
            with tasks_store.locks_told():
                began = time.monotonic()
                report = await _WORK[task](context)
                took = timedelta(seconds=round(time.monotonic() - began, 3))
                await tasks_store.note_run(context.conn, task, report, took=took)
                return TaskResult(task, report)
    except MailqueueError as exc:
        return TaskResult(
            task,
            TaskReport("stopped", needs=(str(exc),)),
            is_stopped=True,
            is_transient=isinstance(exc, Unavailable),
        )


@asynccontextmanager
async def locked(context: MaintenanceContext, task: Task) -> AsyncIterator[None]:
    """Hold the lease of a task during the block.

    Raises:
        Conflict: another process runs it.
        Unavailable: its lease could not be renewed; the block was cancelled.
    """
    lease = await _taken(context, task)
    if isinstance(lease, Holder):
        raise Conflict(
            f"`mailqueue maintain {task}` is running ({lease}): try again when it has ended"
        )
    async with _held(context, task, lease):
        yield


async def _taken(context: MaintenanceContext, task: Task) -> Lease | Holder:
    with tasks_store.locks_told():
        return await leases.take(context.keeper, f"maintain {task}", worker=context.conn)


@asynccontextmanager
async def _held(context: MaintenanceContext, task: Task, lease: Lease) -> AsyncIterator[None]:
    async with leases.held(context.keeper, lease):
        context.held[task] = lease
        try:
            yield
        finally:
            del context.held[task]


@asynccontextmanager
async def open_context(
    database: DatabaseSettings,
    stores: Stores,
    *,
    operator: str,
    advance: Advance,
    master_key: LoadMasterKey = lambda: None,
) -> AsyncIterator[MaintenanceContext]:
    """Open the context of tasks, as the schema's owner.

    Raises:
        ConfigError: the connection goes through a pooler, or the schema has another version.
        Unavailable: PostgreSQL is unavailable, or this user may not act as the owner.
    """
    check_sessions(database)
    with reported(database):
        async with (
            _opened(database) as conn,
            _opened(database) as reader,
            _opened(database) as keeper,
        ):
            host = socket.gethostname()
            yield MaintenanceContext(
                conn, reader, keeper, stores, host, operator, advance, master_key
            )


@asynccontextmanager
async def _opened(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database.for_sessions, application_name=APPLICATION) as conn:
        await require_current(conn)
        await become_owner(conn)
        await tasks_store.set_up_session(conn)
        yield conn
