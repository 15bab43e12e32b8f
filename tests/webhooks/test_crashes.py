"""A worker killed at any point loses no event: it is delivered again under the same id."""

import asyncio
import os
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.queue import store
from mailqueue.queue.heartbeat import LOST_AFTER
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.api.support.wired import MASTER
from tests.webhooks.delivering import PATIENCE, delivering, states, told, until, webhook

pytestmark = pytest.mark.anyio
POINTS = (
    "webhooks.claimed",
    "webhooks.handling",
    "webhooks.handled",
    "webhooks.settling",
    "webhooks.settled",
)
EVENTS = 6


async def crashed(database: DatabaseSettings, folder: Path, words: str) -> int:
    """Run a worker that is killed at a crash point; return its exit code."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "mailqueue",
        "worker",
        "webhooks",
        f"--child={uuid4()}",
        stdin=asyncio.subprocess.PIPE,  # as its parent would keep it
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ
        | {
            "MAILQUEUE_DATABASE_URL": database.url.reveal(),
            "MAILQUEUE_DATA": str(folder),
            "MAILQUEUE_MASTER_KEY": MASTER,
            "MAILQUEUE_ALLOWED_HOSTS": "127.0.0.0/8",
            VARIABLE: words,
        },
    )
    async with asyncio.timeout(PATIENCE):
        return await child.wait()


async def survive(database: DatabaseSettings, folder: Path, words: str) -> None:
    async with connect(database) as conn, fake([FakeReply(200)]) as server:
        hook = await webhook(conn, f"http://127.0.0.1:{server.port}/")
        await told(conn, EVENTS)

        assert await crashed(database, folder, words) == -9
        before = [one.headers["webhook-id"] for one in server.requests]
        await conn.execute("UPDATE mailqueue.workers SET beat_at = now() - interval '1 h'")
        await store.rescue(conn, silence=LOST_AFTER)
        async with delivering(database):

            async def all_delivered() -> bool:
                return await states(conn, hook) == ["delivered"] * EVENTS

            await until(all_delivered)

        seen = [one.headers["webhook-id"] for one in server.requests]
        told_ids = {
            str(row[0])
            for row in await make.rows(conn, "SELECT event_id FROM mailqueue.webhook_deliveries")
        }
        assert set(seen) == told_ids, "none is lost"
        assert len(seen) <= EVENTS + len(before), "and only what was under way comes twice"
        attempts = "SELECT max(attempts) FROM mailqueue.webhook_deliveries"
        assert await make.scalar(conn, attempts) == 1


async def test_killed_between_the_answer_and_its_record(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    await survive(database, tmp_path, "webhooks.handled kill 2")


@pytest.mark.soak
@pytest.mark.parametrize("passing", [1, 2])
@pytest.mark.parametrize("point", POINTS)
async def test_killed_anywhere(
    database: DatabaseSettings, tmp_path: Path, point: str, passing: int
) -> None:
    await survive(database, tmp_path, f"{point} kill {passing}")
