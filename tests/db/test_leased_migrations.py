"""Only one process migrates at a time: a dead one blocks no other, a replaced one stops."""

import asyncio
from pathlib import Path

import pytest
from psycopg import errors

from mailqueue.core.errors import LeaseLost
from mailqueue.db import leases
from mailqueue.db.migrate import migrate, status
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.db.test_migrate import SECOND, rows

pytestmark = pytest.mark.anyio


async def test_a_runner_whose_lease_is_anothers_changes_nothing(
    empty: DatabaseSettings, folder: Path
) -> None:
    taken_over = SECOND + "UPDATE mailqueue.leases SET token = gen_random_uuid();"
    (folder / "migrations" / "0002_second.sql").write_text(taken_over)

    with pytest.raises(LeaseLost, match="lease of migration"):
        await migrate(empty, folder=folder)

    assert (await status(empty, folder=folder)).version == 1
    assert len(await rows(empty, "SELECT * FROM mailqueue.a")) == 1


async def test_a_dead_migration_process_delays_no_other(
    empty: DatabaseSettings, folder: Path
) -> None:
    await migrate(empty, folder=folder)
    async with connect(empty) as conn, connect(empty) as dying:
        await leases.take(conn, "migration", worker=dying)
    told: list[str] = []

    async with asyncio.timeout(30):
        await migrate(empty, told.append, folder=folder)


async def test_a_runner_of_an_earlier_release_writes_nothing_down(
    database: DatabaseSettings,
) -> None:
    """It knows no lease; its earlier changes are rolled back with its transaction."""
    written = "UPDATE mailqueue.schema_objects SET applied_at = now()"
    async with connect(database, application_name="mailqueue/migrate") as old:
        with pytest.raises(errors.ObjectNotInPrerequisiteState, match="migrated by a newer"):
            await old.execute(written.encode())
    async with connect(database, application_name="psql") as person:
        await person.execute(written.encode())
