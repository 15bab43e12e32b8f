"""A worker that is killed between a count and its commit counts everything once."""

from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.queue.kernel.kinds import KINDS
from tests.queue.kernel.pools import deaths, pool_of, prepare, until

pytestmark = pytest.mark.anyio


async def test_a_kill_after_a_batch_was_counted_counts_none_twice_and_misses_none(
    database: DatabaseSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, database, tmp_path)
    async with connect(database) as conn, KINDS["stats"](conn, 3) as rows:
        monkeypatch.setenv(VARIABLE, "stats.folded kill 1")
        async with pool_of(["stats"], tmp_path):

            async def is_done() -> bool:
                return await deaths(conn) >= 1 and not await rows.unfinished(conn)

            await until(is_done, lambda: rows.unfinished(conn))

        await rows.check(1)
