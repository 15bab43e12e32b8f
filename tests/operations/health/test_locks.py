"""The view health names sessions that block others, since when, and how to end them."""

import pytest

from mailqueue.db import leases
from mailqueue.db.leases import Lease
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.operations.test_health import threshold, troubles

pytestmark = pytest.mark.anyio


async def test_who_holds_a_row_that_workers_need_is_named(database: DatabaseSettings) -> None:
    async with connect(database) as conn, connect(database, application_name="stuck") as stuck:
        await threshold(conn, "lock_alarm", "0 s")
        assert "locked rows" not in await troubles(conn)
        pid = await make.scalar(stuck, "SELECT pg_backend_pid()")
        async with stuck.transaction():
            await stuck.execute("SELECT FROM mailqueue.lane_gather FOR UPDATE")
            await stuck.execute("SELECT mailqueue.lock_row('partitions')")
            state, found, fix = (await troubles(conn))["locked rows"]

    assert state == "alarm"
    assert "(stuck, user mailqueue_test) has locked partitions, waking lanes since" in found
    assert f"pg_terminate_backend({pid})" in fix


async def test_who_maintains_is_named(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        pid = await make.scalar(conn, "SELECT pg_backend_pid()")
        lease = await leases.take(conn, "maintain archive", worker=conn)
        assert isinstance(lease, Lease)
        found = await make.scalar(conn, "SELECT found FROM mailqueue.health WHERE name = 'leases'")

    assert f"maintain archive by {leases.this_process()} since" in str(found)
    assert f"pg_terminate_backend({pid})" in str(found)
