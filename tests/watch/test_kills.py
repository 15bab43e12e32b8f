"""A worker killed between Slack and the commit posts nothing twice and loses no mail."""

from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.queue.kernel.kinds import KINDS
from tests.queue.kernel.pools import deaths, pool_of, prepare, until

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("name", "point", "doubtful"),
    [
        ("inboxes", "inboxes.scanned", 1),
        ("notifications", "notifications.marked", 2),
        ("notifications", "notifications.posted", 2),
    ],
)
async def test_killed_around_the_network_each_row_is_done_or_in_doubt(
    name: str,
    point: str,
    doubtful: int,
    database: DatabaseSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepare(monkeypatch, database, tmp_path)
    async with connect(database) as conn, KINDS[name](conn, 2) as rows:
        monkeypatch.setenv(VARIABLE, f"{point} kill 1")
        async with pool_of([queue_named(name).name], tmp_path):

            async def is_done() -> bool:
                return await deaths(conn) == 1 and not await rows.unfinished(conn)

            await until(is_done, lambda: rows.unfinished(conn))

        await rows.check(doubtful)
