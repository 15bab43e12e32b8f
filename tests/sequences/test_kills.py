"""Workers that are killed repeat no step and leave none out."""

import asyncio
import random
import signal
from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.process.groups import queue_children
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.queue.kernel.pools import deaths, end, pool_of, prepare, processes, until
from tests.sequences.running import mails, project_with_template, sequence

pytestmark = pytest.mark.anyio
STEPS = ("one", "two", "three", "four")
UNFINISHED = "SELECT count(*) FROM mailqueue.sequence_enrollments WHERE status <> 'completed'"


async def enrolled(conn: Conn, count: int) -> list[str]:
    """Enroll contacts in a sequence without delays; return the mails that are due."""
    project = await project_with_template(conn)
    await sequence(conn, project, *({"name": name, "template": "hello"} for name in STEPS))
    for number in range(count):
        await conn.execute("SELECT mailqueue.enroll('onboarding', %s)", (f"p{number}@example.com",))
    return sorted(f"p{number}@example.com {name}" for number in range(count) for name in STEPS)


async def test_a_kill_before_the_commit_of_steps_loses_and_repeats_none(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    monkeypatch.setenv(VARIABLE, "sequence.advanced kill 2")
    async with connect(database) as conn:
        expected = await enrolled(conn, 5)
        async with pool_of(["sequences"], tmp_path):

            async def is_done() -> bool:
                return await deaths(conn) == 1 and not await make.scalar(conn, UNFINISHED)

            await until(is_done, lambda: mails(conn))

        assert sorted(await mails(conn)) == expected


@pytest.mark.soak
async def test_four_workers_of_which_one_is_killed_again_and_again(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    rng = random.Random(4)
    async with connect(database) as conn:
        expected = await enrolled(conn, 400)
        await conn.execute(
            "UPDATE mailqueue.sequence_enrollments"
            " SET due_at = now() + random() * interval '15 s', run_at = due_at"
        )
        await conn.execute("UPDATE mailqueue.sequence_enrollments SET run_at = due_at")
        groups = [queue_children(["sequences"]) for _ in range(4)]
        async with pool_of(["sequences"], tmp_path, groups=groups):
            for _ in range(12):
                await asyncio.sleep(1.5)
                running = await processes(conn)
                if running:
                    end(rng.choice(running), signal.SIGKILL)

            async def is_done() -> bool:
                return not await make.scalar(conn, UNFINISHED)

            await until(is_done, lambda: mails(conn))

        assert await deaths(conn) > 0
        assert sorted(await mails(conn)) == expected
        order = "SELECT array_agg(step ORDER BY number) FROM mailqueue.enrollment_steps"
        assert set(map(str, await make.rows(conn, f"{order} GROUP BY enrollment_id"))) == {
            str((list(STEPS),))
        }
