"""A row that stops its worker fails alone, with its reason; kills alone fail no row."""

import asyncio
import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.queues.registry import MAX_CRASHES, QUEUES, queue_named
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.process import child, pool
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.kernel.kinds import KINDS
from tests.queue.kernel.pools import deaths, end, pool_of, prepare, processes, until

pytestmark = pytest.mark.anyio
HUNG_SECONDS = 3.0
MEMORY_BYTES = 400 << 20
"""Memory limit of a process that handles one row, enough for the program itself."""
WAYS = {
    "leave": "it stopped its worker: exit code 3",
    "kill": "it stopped its worker: signal SIGKILL",
    "fill": "it stopped its worker: it needed more memory",
    "hang": "it stopped its worker: its event loop did not turn",
}
CASES = [
    *(pytest.param(QUEUES[0], way, id=f"{QUEUES[0].name}-{way}") for way in WAYS),
    *(
        pytest.param(spec, "leave", id=f"{spec.name}-leave")
        for spec in QUEUES[1:]
        if spec.keeps_done  # rows of the others go with their mail: tests/mail/custom_smtp
    ),
]


async def row_of(conn: Conn, spec: QueueSpec, row_id: object) -> tuple[str, int, str]:
    [(status, crashes, error)] = await make.rows(
        conn,
        f"SELECT status, crashes, coalesce(last_error, '') FROM mailqueue.{spec.table}"
        " WHERE id = %s",
        row_id,
    )
    return status, crashes, error


async def deaths_before(conn: Conn, spec: QueueSpec, ids: Sequence[object]) -> int:
    """Return how many workers had died when the last of these rows was done."""
    column = "last_run_at" if spec.name == "maintenance" else "finished_at"
    found: int = await make.scalar(
        conn,
        "SELECT count(*) FROM mailqueue.workers WHERE lost_at <"
        f" (SELECT max({column}) FROM mailqueue.{spec.table} WHERE id = ANY (%s))",
        list(ids),
    )
    return found


@pytest.mark.parametrize(("spec", "way"), CASES)
async def test_a_row_that_stops_its_worker_fails_alone_with_its_reason(
    spec: QueueSpec,
    way: str,
    database: DatabaseSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if way == "hang":  # memory is filled for longer on a busy machine
        monkeypatch.setattr(child, "HUNG_SECONDS", HUNG_SECONDS)
    async with connect(database) as conn, KINDS[spec.name](conn, 4) as rows:
        hostile, *others = rows.ids
        prepare(monkeypatch, database, tmp_path, hostile={str(hostile): way}, memory=MEMORY_BYTES)
        async with pool_of([spec.name], tmp_path):

            async def others_done() -> bool:
                found = await rows.unfinished(conn)
                return not [one for one in found if str(hostile) not in one]

            async def has_failed() -> bool:
                return (await row_of(conn, spec, hostile))[0] == "failed"

            await until(others_done, lambda: rows.unfinished(conn))
            assert await deaths_before(conn, spec, others) <= MAX_CRASHES, "others go first"
            await until(has_failed, lambda: rows.unfinished(conn))

        _, crashes, error = await row_of(conn, spec, hostile)
        assert crashes == MAX_CRASHES + 1, "one death among others, then those while alone"
        assert error.startswith(WAYS[way])
        assert await deaths(conn) == crashes
        assert len(others) == len(rows.ids) - 1


@pytest.mark.parametrize(
    ("seconds", "count"),
    [(30, 900), pytest.param(3600, 1_000_000, marks=pytest.mark.soak)],
)
@pytest.mark.timeout(3 * 3600)
async def test_killing_healthy_workers_fails_no_row(
    seconds: int,
    count: int,
    database: DatabaseSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = queue_named("inbound")
    prepare(monkeypatch, database, tmp_path, seconds=0.1 if count < 10_000 else 0)
    async with connect(database) as conn:
        await conn.execute(
            "INSERT INTO mailqueue.inbound_events (provider, body)"
            " SELECT 'sendgrid', '[]' FROM generate_series(1, %s)",
            (count,),
        )
        counted = "SELECT count(*) FROM mailqueue.inbound_events WHERE status = '{}'"

        async def is_done() -> bool:
            return bool(await make.scalar(conn, counted.format(spec.done)) == count)

        async def tell() -> object:
            return await make.rows(
                conn,
                "SELECT status, crashes, last_error, count(*) FROM mailqueue.inbound_events"
                " GROUP BY 1, 2, 3",
            )

        async with pool_of([spec.name], tmp_path):
            kills, last = 0, time.monotonic() + seconds
            while time.monotonic() < last and not await is_done():
                await asyncio.sleep(1)
                if pids := await processes(conn):
                    end(random.choice(pids), signal.SIGKILL)
                    kills += 1
            await until(is_done, tell, seconds=seconds + 120)
        assert kills > 5
        assert await make.scalar(conn, counted.format("failed")) == 0
        counted = (
            "SELECT count(*) FROM mailqueue.inbound_events WHERE attempts <> 1 OR crashes <> 0"
        )
        assert await make.scalar(conn, counted) == 0


async def test_a_row_of_another_queue_is_not_blamed(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that stopped together are handled in processes of their own, each queue in one."""
    hostile_queue, slow_queue = queue_named("inbound"), queue_named("erasures")
    async with (
        connect(database) as conn,
        KINDS["inbound"](conn, 1) as hostile,
        KINDS["erasures"](conn, 1) as slow,
    ):
        for spec in (hostile_queue, slow_queue):
            await conn.execute(f"UPDATE mailqueue.{spec.table} SET crashes = 1")
        way, pause = {str(hostile.ids[0]): "leave"}, {slow_queue.name: 8}
        prepare(monkeypatch, database, tmp_path, hostile=way, pause=pause)
        async with pool_of([hostile_queue.name, slow_queue.name], tmp_path):

            async def has_ended() -> bool:
                rows = [await row_of(conn, hostile_queue, hostile.ids[0])]
                rows.append(await row_of(conn, slow_queue, slow.ids[0]))
                assert rows[1][1] < 2, "blamed for the death of another's process"
                return {row[0] for row in rows} == {"failed", "done"}

            await until(has_ended, lambda: slow.unfinished(conn))
        assert await slow.unfinished(conn) == []


async def test_upkeep_that_stopped_a_worker_is_handled_alone_by_any_worker(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process works on the queue, so that none would look for such rows."""
    monkeypatch.setattr(pool, "UPKEEP_SECONDS", 0.5)
    async with connect(database) as conn, KINDS["erasures"](conn, 1) as rows:
        await conn.execute("UPDATE mailqueue.erasures SET crashes = 1")
        await conn.execute("UPDATE mailqueue.maintenance_tasks SET run_at = now() + interval '1 d'")
        prepare(monkeypatch, database, tmp_path)
        async with pool_of([], tmp_path, groups=[]):

            async def is_done() -> bool:
                return not await rows.unfinished(conn)

            await until(is_done, lambda: rows.unfinished(conn))


async def test_two_parents_on_a_host_count_each_death_once(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = queue_named("inbound")
    async with connect(database) as conn, KINDS[spec.name](conn, 40) as rows:
        hostile, *others = rows.ids
        prepare(monkeypatch, database, tmp_path, hostile={str(hostile): "leave"})
        async with pool_of([spec.name], tmp_path), pool_of([spec.name], tmp_path):

            async def has_ended() -> bool:
                found = await rows.unfinished(conn)
                return len(found) == 1 and (await row_of(conn, spec, hostile))[0] == "failed"

            await until(has_ended, lambda: rows.unfinished(conn))
        _, crashes, error = await row_of(conn, spec, hostile)
        assert crashes == MAX_CRASHES + 1 == await deaths(conn)
        assert error.startswith(WAYS["leave"])
        assert len(others) == 39
