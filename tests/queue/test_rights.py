"""A login that may not do the work of a queue does not register for it, so that alarms are kept."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from mailqueue.cli.worker.queues import command_of
from mailqueue.core.errors import ConfigError
from mailqueue.core.queues.registry import UPKEEP, queue_named
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.process import pool
from mailqueue.queue import rights, store
from mailqueue.settings.environment import DatabaseSettings, Pooler
from tests import make
from tests.api.support.calling import settings_for
from tests.conftest import Server
from tests.logged import log_of
from tests.rules.logins import worker_login

pytestmark = pytest.mark.anyio

LOOKS = 3
"""How often a worker's parent looks for due rows before it is stopped."""
LATE = """
UPDATE mailqueue.maintenance_tasks
   SET run_at = now() + CASE task WHEN 'keys' THEN interval '-3 h' ELSE interval '1 day' END
"""


@pytest.fixture(scope="module")
def database(module_db: str) -> DatabaseSettings:
    return DatabaseSettings(Secret(module_db))


@pytest.fixture
async def db(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database) as conn:
        yield conn


async def test_a_login_without_the_rights_of_the_owner_may_not_work_on_queues_that_need_them(
    server: Server, database: DatabaseSettings
) -> None:
    assert await rights.not_permitted(database, UPKEEP) == {}
    assert await rights.permitted(database, UPKEEP) == UPKEEP

    async with worker_login(server, database) as worker:
        assert set(await rights.not_permitted(worker, UPKEEP)) == {"erasures", "maintenance"}
        assert await rights.permitted(worker, UPKEEP) == ("operations", "list-sends")
        with pytest.raises(ConfigError, match=r"may not work on queue maintenance: .*GRANT"):
            await rights.permitted(worker, ["maintenance"])
        with pytest.raises(ConfigError, match=r"may not work on queue erasures: .*GRANT"):
            await rights.check_permitted(worker, ["webhooks", "erasures"])
        await rights.check_permitted(worker, ["webhooks"])


async def test_behind_a_pooler_by_transaction_the_address_for_sessions_is_asked_for(
    database: DatabaseSettings,
) -> None:
    pooled = replace(database, pooler=Pooler.TRANSACTION)

    with pytest.raises(ConfigError, match="set MAILQUEUE_DIRECT_URL"):
        await rights.check_permitted(pooled, ["maintenance"])


async def test_a_command_that_may_not_do_the_tasks_ends_and_does_not_register(
    server: Server, database: DatabaseSettings, db: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with worker_login(server, database) as worker:
        monkeypatch.setenv("MAILQUEUE_DATABASE_URL", worker.url.reveal())
        with pytest.raises(ConfigError, match="may not work on queue maintenance"):
            await asyncio.to_thread(
                command_of(queue_named("maintenance")).main, [], standalone_mode=False
            )

    assert await make.scalar(db, "SELECT mailqueue.is_attended('maintenance')") is False


async def test_a_worker_that_may_not_do_the_tasks_leaves_them_due_and_health_says_that_none_runs(
    server: Server,
    database: DatabaseSettings,
    db: Conn,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await db.execute(LATE)
    stop, looks = asyncio.Event(), list[list[str]]()

    async def unattended(conn: Conn, queues: Sequence[str]) -> list[str]:
        looks.append(await found(conn, queues))
        if len(looks) == LOOKS:
            stop.set()
        return looks[-1]

    found = store.unattended
    monkeypatch.setattr(store, "unattended", unattended)
    monkeypatch.setattr(pool, "UPKEEP_SECONDS", 0.0)
    lines = log_of(rights, monkeypatch)
    async with worker_login(server, database) as worker:
        settings = replace(settings_for(worker), data=tmp_path)
        await pool.WorkerPool(settings, []).run(stop)

    assert looks == [["maintenance"]] * LOOKS
    [line] = map(orjson.loads, lines.getvalue().splitlines())
    assert (line["event"], line["queue"]) == ("worker.not_permitted", "maintenance")
    assert await make.rows(
        db,
        "SELECT attempts, last_error, run_at < now() FROM mailqueue.maintenance_tasks"
        " WHERE task = 'keys'",
    ) == [(0, None, True)]
    [(state, told)] = await make.rows(
        db, "SELECT state, found FROM mailqueue.health WHERE name = 'work queues'"
    )
    assert state == "alarm"
    assert told.startswith("work waits for a queue that no worker runs: maintenance for ")
