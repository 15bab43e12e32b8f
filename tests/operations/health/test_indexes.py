"""An index that was not built to its end is named."""

import pytest
from psycopg.errors import UniqueViolation

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make

pytestmark = pytest.mark.anyio
FOUND = "SELECT state, found, fix FROM mailqueue.health WHERE name = 'indexes'"


@pytest.mark.parametrize("ending", ["_ccnew", "_ccold", "_ccold2"])
async def test_a_copy_that_rebuilding_left_is_dropped(
    database: DatabaseSettings, ending: str
) -> None:
    async with connect(database) as conn:
        for name in ("one", "two"):
            await make.project(conn, name, daily_limit=5)
        built = f"UNIQUE INDEX CONCURRENTLY projects_x{ending} ON mailqueue.projects"
        with pytest.raises(UniqueViolation):
            await conn.execute(f"CREATE {built} (daily_limit)".encode())

        ((_, _, fix),) = await make.rows(conn, FOUND)

    assert fix.endswith(f"DROP INDEX CONCURRENTLY mailqueue.projects_x{ending}")


async def test_an_index_whose_building_failed_is_named_until_it_is_built_again(
    database: DatabaseSettings,
) -> None:
    async with connect(database) as conn:
        assert await make.rows(conn, FOUND) == [("ok", "every index is valid", None)]
        for name in ("one", "two"):
            await make.project(conn, name, daily_limit=5)
        built = "INDEX CONCURRENTLY IF NOT EXISTS projects_once_idx ON mailqueue.projects"
        with pytest.raises(UniqueViolation):
            await conn.execute(f"CREATE UNIQUE {built} (daily_limit)".encode())

        ((state, found, fix),) = await make.rows(conn, FOUND)
        assert state == "warning"
        assert found == "not valid, as building them did not end: projects_once_idx"
        assert fix.endswith("REINDEX INDEX CONCURRENTLY mailqueue.projects_once_idx")
        # What `mailqueue migrate` would do once more does not mend it.
        await conn.execute(f"CREATE UNIQUE {built} (daily_limit)".encode())
        assert len(await make.rows(conn, f"{FOUND} AND state = 'warning'")) == 1

        await conn.execute("UPDATE mailqueue.projects SET daily_limit = 6 WHERE name = 'two'")
        await conn.execute(fix.partition("and there ")[2].encode())
        assert (await make.rows(conn, FOUND))[0][0] == "ok"
