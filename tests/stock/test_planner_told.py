"""Why: the health view names planner settings without which mail's plans scan whole tables."""

import pytest

from mailqueue.db.fetch import Conn
from tests import make

pytestmark = pytest.mark.anyio
TOLD = "SELECT state, found, fix FROM mailqueue.health WHERE name = 'planner'"


async def test_settings_as_they_are_shipped_are_well(conn: Conn) -> None:
    [(state, _, fix)] = await make.rows(conn, TOLD)

    assert (state, fix) == ("ok", None)


async def test_plans_that_are_turned_off_are_told(conn: Conn) -> None:
    await conn.execute("SET LOCAL enable_nestloop = off")
    name = await make.scalar(conn, "SELECT current_database()")
    await conn.execute(f"ALTER DATABASE {name} SET enable_indexscan = off".encode())

    [(state, found, fix)] = await make.rows(conn, TOLD)

    assert (state, fix is None) == ("alarm", False)
    assert found.startswith("enable_indexscan is off for this database, enable_nestloop is off:")
