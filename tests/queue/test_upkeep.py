"""Erasures and maintenance tasks are done by any running worker, and never given up."""

import signal
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import orjson
import pytest

from mailqueue.cli.main import EXIT_CONFIG
from mailqueue.core.crashpoints import VARIABLE
from mailqueue.core.errors import Unavailable
from mailqueue.core.queues.registry import UPKEEP
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.maintenance import handler
from mailqueue.maintenance.context import MaintenanceContext, OpenContext
from mailqueue.maintenance.handler import MaintenanceHandler
from mailqueue.maintenance.model import Task
from mailqueue.privacy import erasing, persons
from mailqueue.privacy.handler import ErasureHandler
from mailqueue.queue import store
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.maintenance import maintenance_handler
from tests import make
from tests.api.support.calling import settings_for
from tests.conftest import Server
from tests.logged import log_of
from tests.privacy.erasing import sent
from tests.privacy.planted_rows import ANN
from tests.queue.kernel.pools import code_of, prepare
from tests.queue.working import work_once
from tests.rules.logins import worker_login

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def database(module_db: str) -> DatabaseSettings:
    return DatabaseSettings(Secret(module_db))


@pytest.fixture
async def db(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database) as conn:
        await conn.execute("DELETE FROM mailqueue.erasures")
        await conn.execute("UPDATE mailqueue.workers SET stopped_at = now()")
        yield conn


def opening(database: DatabaseSettings) -> OpenContext:
    return maintenance_handler(settings_for(database)).open_context


def broken() -> AbstractAsyncContextManager[MaintenanceContext]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[MaintenanceContext]:
        raise Unavailable("this login may not act as the owner")
        yield

    return opened()


async def task_of(conn: Conn, task: Task) -> tuple[str, int, str | None, str | None, bool]:
    [row] = await make.rows(
        conn,
        "SELECT status, attempts, last_error, last_report, run_at > now()"
        " FROM mailqueue.maintenance_tasks WHERE task = %s",
        task.value,
    )
    return (row[0], row[1], row[2], row[3], row[4])


async def only_due(conn: Conn, task: Task) -> None:
    await conn.execute(
        "UPDATE mailqueue.maintenance_tasks SET run_at = CASE task WHEN %s THEN now()"
        " ELSE now() + interval '1 day' END, last_run_at = NULL, last_report = NULL",
        (task.value,),
    )


async def test_a_due_task_runs_and_is_due_again_after_its_interval(
    database: DatabaseSettings, db: Conn
) -> None:
    await only_due(db, Task.COUNTERS)

    assert await work_once(database, "maintenance", MaintenanceHandler(opening(database))) == 1

    status, attempts, error, report, is_later = await task_of(db, Task.COUNTERS)
    assert (status, attempts, error, is_later) == ("pending", 0, None, True)
    assert report is not None
    assert await make.scalar(
        db,
        "SELECT run_at BETWEEN now() + every - interval '1 min' AND now() + every"
        " FROM mailqueue.maintenance_tasks WHERE task = 'counters'",
    )


async def test_a_finished_task_is_logged_with_its_report_and_counts(
    database: DatabaseSettings, db: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    await only_due(db, Task.RETENTION)
    written = log_of(handler, monkeypatch)

    assert await work_once(database, "maintenance", MaintenanceHandler(opening(database))) == 1

    [line] = map(orjson.loads, written.getvalue().splitlines())
    assert (line["event"], line["task"]) == ("maintenance.done", "retention")
    assert line["result"] == (await task_of(db, Task.RETENTION))[3]
    assert set(line["counts"].values()) <= {0}


async def test_a_task_that_may_not_run_here_waits_with_its_reason(
    database: DatabaseSettings, db: Conn
) -> None:
    await only_due(db, Task.KEYS)

    await work_once(database, "maintenance", MaintenanceHandler(broken))

    status, attempts, error, report, is_later = await task_of(db, Task.KEYS)
    assert (status, attempts, report, is_later) == ("pending", 0, None, True)
    assert error == "this login may not act as the owner"


async def test_a_task_behind_a_lock_of_another_session_is_tried_again_within_a_minute(
    database: DatabaseSettings, db: Conn
) -> None:
    await only_due(db, Task.KEYS)
    async with connect(database) as other, other.transaction():
        await other.execute("LOCK TABLE mailqueue.api_keys")

        await work_once(database, "maintenance", MaintenanceHandler(opening(database)))

    _, attempts, error, _, _ = await task_of(db, Task.KEYS)
    assert attempts == 0
    assert error is not None
    assert "another session holds a lock" in error
    assert await make.scalar(
        db,
        "SELECT run_at <= now() + interval '1 min' FROM mailqueue.maintenance_tasks"
        " WHERE task = 'keys'",
    )


async def test_every_task_of_the_program_is_a_row(db: Conn) -> None:
    found = await make.rows(db, "SELECT task FROM mailqueue.maintenance_tasks")

    assert {row[0] for row in found} == {task.value for task in Task}


async def begun(conn: Conn) -> None:
    await sent(conn)
    project_id = await make.project_named(conn)
    lend = persons.lending(conn)
    await erasing.begin(lend, project_id, persons.spellings_of(ANN), by="tests")


async def test_an_erasure_is_completed_by_the_worker(database: DatabaseSettings, db: Conn) -> None:
    await begun(db)

    await work_once(database, "erasures", ErasureHandler(opening(database)))

    rows = await make.rows(
        db, "SELECT status, stage, spellings, finished_at IS NULL FROM mailqueue.erasures"
    )
    assert rows == [("done", "done", None, False)]


async def test_an_erasure_completed_by_another_process_is_no_work(
    database: DatabaseSettings, db: Conn
) -> None:
    await begun(db)
    async with opening(database)() as context:
        [erasure] = await make.rows(db, "SELECT id FROM mailqueue.erasures")
        await erasing.go_on(persons.lending(context.conn), erasure[0], context=context, by="tests")

    assert await work_once(database, "erasures", ErasureHandler(opening(database))) == 0
    assert await make.rows(db, "SELECT status FROM mailqueue.erasures") == [("done",)]


async def test_an_erasure_that_cannot_go_on_is_never_given_up(
    database: DatabaseSettings, db: Conn
) -> None:
    await begun(db)
    for _ in range(3):
        await db.execute("UPDATE mailqueue.erasures SET run_at = now()")
        await work_once(database, "erasures", ErasureHandler(broken))

    rows = await make.rows(db, "SELECT status, attempts, last_error FROM mailqueue.erasures")
    assert rows == [("pending", 0, "this login may not act as the owner")]


async def test_queues_without_a_worker_are_found_while_they_have_work(db: Conn) -> None:
    await only_due(db, Task.KEYS)
    assert await store.unattended(db, UPKEEP) == ["maintenance"]

    number = await make.worker(db)
    await db.execute(
        "UPDATE mailqueue.workers SET queues = '{maintenance}' WHERE id = %s", (number,)
    )

    assert await store.unattended(db, UPKEEP) == []


@pytest.mark.parametrize("step", ["claimed", "handling", "handled", "settling", "settled"])
async def test_killed_anywhere_the_task_runs_again(
    database: DatabaseSettings,
    db: Conn,
    tmp_path: Path,
    step: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await only_due(db, Task.COUNTERS)
    prepare(monkeypatch, database, tmp_path)
    monkeypatch.setenv(VARIABLE, f"maintenance.{step} kill 1")
    assert await code_of("maintenance", "--until-idle") == -signal.SIGKILL
    await db.execute("UPDATE mailqueue.workers SET beat_at = now() - interval '1 h'")
    await db.execute("SELECT mailqueue.rescue_emails(interval '30 s')")
    await only_due(db, Task.COUNTERS)

    assert await work_once(database, "maintenance", MaintenanceHandler(opening(database))) == 1
    assert (await task_of(db, Task.COUNTERS))[0] == "pending"


async def test_a_process_registers_only_for_queues_that_its_login_may_work_on(
    server: Server,
    database: DatabaseSettings,
    db: Conn,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The parent has looked when it started: the rights may be taken away later."""
    await only_due(db, Task.KEYS)
    untouched = await task_of(db, Task.KEYS)
    registered = "SELECT queues FROM mailqueue.workers WHERE id > %s"
    last = await make.scalar(db, "SELECT max(id) FROM mailqueue.workers")
    async with worker_login(server, database) as worker:
        prepare(monkeypatch, worker, tmp_path)
        assert await code_of("maintenance", "--until-idle") == EXIT_CONFIG
        assert await make.rows(db, registered, last or 0) == []

        assert await code_of("maintenance", "operations", "--until-idle") == 0

    assert await make.rows(db, registered, last or 0) == [(["operations"],)]
    assert await task_of(db, Task.KEYS) == untouched


async def test_health_names_tasks_that_are_overdue_and_why(
    database: DatabaseSettings, db: Conn
) -> None:
    query = "SELECT state, found FROM mailqueue.health WHERE name = 'maintenance'"
    await only_due(db, Task.KEYS)
    await work_once(database, "maintenance", MaintenanceHandler(broken))
    assert (await make.rows(db, query))[0][0] == "ok"

    await db.execute(
        "UPDATE mailqueue.maintenance_tasks SET created_at = now() - interval '9 d'"
        " WHERE task = 'keys'"
    )

    [(state, found)] = await make.rows(db, query)
    assert state == "warning"
    assert "keys, never run (this login may not act as the owner)" in found
