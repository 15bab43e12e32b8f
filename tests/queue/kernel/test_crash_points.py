"""A worker killed at any point of the kernel loses no row of any queue, and repeats none too
often.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.core.queues.model import QueueSpec
from mailqueue.core.queues.registry import QUEUES
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.kernel.kinds import KINDS
from tests.queue.kernel.pools import deaths, end, pool_of, prepare, processes, until

pytestmark = pytest.mark.anyio
COUNT = 3
"""Rows of each case."""
STEPS = ("claimed", "handling", "handled", "settling", "settled", "renewed", "drained")
"""Points of each queue, named QUEUE.STEP."""
SLOW = {
    "renewed": {"lease": 3, "seconds": 2.5},
    "drained": {"seconds": 1.5},
    "beat.committed": {"seconds": 0.5},
}
"""How handlers are slowed so that a point is reached while rows are held."""
QUICK = ("handling", "settled")
"""Points that the gate tests for every queue; for the first queue it tests all."""


def cases() -> list[ParameterSet]:
    """Return every point of every queue; those that take long run with -m soak."""
    return [
        pytest.param(
            spec,
            point,
            id=f"{spec.name}-{point}",
            marks=() if spec is QUEUES[0] or point in QUICK else pytest.mark.soak,
        )
        for spec in QUEUES
        for point in (*STEPS, "beat.committed")
    ]


def test_every_queue_is_killed_at_every_point() -> None:
    assert set(KINDS) >= {spec.name for spec in QUEUES}, "a queue without rows in kinds.py"


@pytest.mark.parametrize(("spec", "point"), cases())
async def test_killed_anywhere_each_row_is_done_as_promised(
    spec: QueueSpec,
    point: str,
    database: DatabaseSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepare(monkeypatch, database, tmp_path, **SLOW.get(point, {}))
    name = point if "." in point else f"{spec.name}.{point}"
    async with connect(database) as conn, KINDS[spec.name](conn, COUNT) as rows:
        monkeypatch.setenv(VARIABLE, f"{name} kill 1")  # read by the first process alone
        async with pool_of([spec.name], tmp_path):

            async def has_begun() -> bool:
                return bool(await make.scalar(conn, "SELECT count(*) FROM mailqueue.workers"))

            await until(has_begun, lambda: rows.unfinished(conn))
            if point == "drained":
                held = f"SELECT count(*) FROM mailqueue.{spec.table} WHERE status = 'assigned'"

                async def is_working() -> bool:
                    return bool(await make.scalar(conn, held))

                await until(is_working, lambda: rows.unfinished(conn))
                end((await processes(conn))[0], signal.SIGTERM)

            async def is_done() -> bool:
                return await deaths(conn) == 1 and not await rows.unfinished(conn)

            await until(is_done, lambda: rows.unfinished(conn))
            await rows.check(COUNT)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spec, id=spec.name, marks=pytest.mark.soak if number else ())
        for number, spec in enumerate(QUEUES)
    ],
)
async def test_a_parent_killed_after_a_rescue_takes_its_worker_with_it(
    spec: QueueSpec, database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path, seconds=0.5)
    async with connect(database) as conn, KINDS[spec.name](conn, COUNT) as rows:
        parent = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mailqueue", "worker", spec.name),
            env=os.environ | {VARIABLE: "rescue.committed kill 1"},
        )
        assert await parent.wait() == -signal.SIGKILL
        await conn.execute("UPDATE mailqueue.workers SET beat_at = now() - interval '1 h'")
        async with pool_of([spec.name], tmp_path):

            async def is_done() -> bool:
                return not await rows.unfinished(conn)

            await until(is_done, lambda: rows.unfinished(conn))
            await rows.check(COUNT)
