"""Workers that die at any point leave each occurrence with exactly one run, and each run whole."""

from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.kernel.pools import deaths, pool_of, prepare, until
from tests.schedules import turning

pytestmark = pytest.mark.anyio
RECIPIENTS = 1200
BOOKS = """
    SELECT (SELECT count(*) FROM mailqueue.schedule_runs),
           (SELECT sum(run_count) FROM mailqueue.schedules),
           (SELECT count(*) FROM mailqueue.email_queue),
           (SELECT count(*) FROM mailqueue.batches)
"""


async def test_a_run_that_is_written_and_not_committed_is_made_again(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    monkeypatch.setenv(VARIABLE, "schedules.fired kill 1")
    async with connect(database) as conn:
        made = await turning.put(
            conn, schedule_type="cron", cron_expression="* * * * *", missed="skip", max_runs=1
        )
        await turning.turn(conn)
        await turning.due(conn, made)
        async with pool_of(["schedules"], tmp_path):

            async def is_done() -> bool:
                found = await turning.row_of(conn, made)
                return await deaths(conn) == 1 and found["status"] == "completed"

            await until(is_done, lambda: turning.row_of(conn, made))

        assert await make.rows(conn, BOOKS) == [(1, 1, 1, 1)]


@pytest.mark.parametrize("parts", [1, 2])
async def test_a_run_goes_on_after_the_part_that_was_committed(
    parts: int, database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    monkeypatch.setenv(VARIABLE, f"schedules.part_made kill {parts}")
    to = [f"n{n}@example.com" for n in range(RECIPIENTS)]
    async with connect(database) as conn:
        made = await turning.put(
            conn,
            schedule_type="cron",
            cron_expression="0 9 1 1 *",
            payload=turning.RAW | {"to": to},
        )
        project = await make.project_named(conn)
        await make.rows(conn, "SELECT mailqueue.run_schedule(%s, %s)", project, made)
        async with pool_of(["schedule-runs"], tmp_path):

            async def is_done() -> bool:
                (run,) = await turning.runs_of(conn, made)
                return await deaths(conn) == 1 and bool(run["status"] == "done")

            await until(is_done, lambda: turning.runs_of(conn, made))

        (run,) = await turning.runs_of(conn, made)
        found = await make.rows(
            conn, "SELECT count(*), count(DISTINCT recipient_email) FROM mailqueue.email_queue"
        )
        assert found == [(RECIPIENTS, RECIPIENTS)]
        assert run["queued"] == RECIPIENTS
