"""Killed while the audit log is sealed or cut, and run again: all rows are sealed once."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mailqueue.core.crashpoints import VARIABLE
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.audit.sealed import add, older, verified
from tests.chaos.processes import ForkServer, fork_server

pytestmark = pytest.mark.anyio

MASTER_KEY = bytes(range(32)).hex()  # tests.vault.sealed.FIRST


@pytest.fixture
async def own(database: DatabaseSettings) -> AsyncIterator[Conn]:
    """A connection that commits."""
    async with connect(database) as opened:
        yield opened


@pytest.fixture
async def forks(tmp_path: Path) -> AsyncIterator[ForkServer]:
    async with fork_server(tmp_path) as made:
        yield made


async def maintain(forks: ForkServer, url: str, *, dies_at: str | None = None) -> None:
    """Run the task until it succeeds; with a crash point it must have been killed there."""
    environment = {
        "MAILQUEUE_DATABASE_URL": url,
        "MAILQUEUE_DATA": str(forks.folder),
        "MAILQUEUE_MASTER_KEY": MASTER_KEY,
    }
    if dies_at is not None:
        environment[VARIABLE] = f"{dies_at} kill 1"
    child = await forks.start("maintain", "audit", environment=environment)
    assert await child.ended() == (0 if dies_at is None else -signal.SIGKILL), child.log.read_text()


async def test_killed_after_a_batch_of_seals_no_row_is_sealed_twice_or_left_out(
    forks: ForkServer, own: Conn, fresh_db: str
) -> None:
    ids = await add(own, *(f"row {n}" for n in range(5)))
    await maintain(forks, fresh_db, dies_at="audit.sealed")
    ids += await add(own, "after the end")

    await maintain(forks, fresh_db)

    found = await verified(own)
    sealed = await make.rows(own, "SELECT event_id FROM mailqueue.audit_seals ORDER BY position")
    assert [row[0] for row in sealed if row[0] is not None] == ids
    assert (found.sealed, found.waiting, found.faults) == (6, 0, [])


async def test_killed_after_a_cut_the_rows_that_are_left_fit(
    forks: ForkServer, own: Conn, fresh_db: str
) -> None:
    ids = await add(own, *(f"old {n}" for n in range(3)))
    await own.execute(
        "SELECT mailqueue.change_retention(NULL, 'audit_events', 30, NULL, 30, 'tests')"
    )
    async with own.transaction():
        await older(own, ids)
    await maintain(forks, fresh_db, dies_at="audit.sealed")
    await maintain(forks, fresh_db, dies_at="audit.cut")
    before = await verified(own)

    await maintain(forks, fresh_db)

    after = await verified(own)
    left = await make.rows(own, "SELECT id FROM mailqueue.audit_events WHERE id = ANY (%s)", ids)
    assert (before.faults, after.faults, after.waiting, left) == ([], [], 0, [])
    assert after.deleted_until is not None
