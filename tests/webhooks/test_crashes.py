"""A worker killed at any point loses no event: it is delivered again under the same id."""

import signal
from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.queue import store
from mailqueue.queue.heartbeat import LOST_AFTER
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import FakeReply, fake
from tests.queue.kernel.pools import code_of, prepare
from tests.webhooks.delivering import delivering, states, told, until, webhook

pytestmark = pytest.mark.anyio
POINTS = (
    "webhooks.claimed",
    "webhooks.handling",
    "webhooks.handled",
    "webhooks.settling",
    "webhooks.settled",
)
EVENTS = 6


async def survive(
    database: DatabaseSettings, folder: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, folder)
    monkeypatch.setenv(VARIABLE, words)
    async with connect(database) as conn, fake([FakeReply(200)]) as server:
        hook = await webhook(conn, f"http://127.0.0.1:{server.port}/")
        await told(conn, EVENTS)

        assert await code_of("webhooks") == -signal.SIGKILL
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
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await survive(database, tmp_path, "webhooks.handled kill 2", monkeypatch)


@pytest.mark.soak
@pytest.mark.parametrize("passing", [1, 2])
@pytest.mark.parametrize("point", POINTS)
async def test_killed_anywhere(
    database: DatabaseSettings,
    tmp_path: Path,
    point: str,
    passing: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await survive(database, tmp_path, f"{point} kill {passing}", monkeypatch)
