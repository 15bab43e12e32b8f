"""Partitions are created and dropped while others read and write: no INSERT waits."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.maintenance import partitions
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.store import tasks as tasks_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make

pytestmark = pytest.mark.anyio

OLD_MONTHS = """
SELECT count(*) FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid
 WHERE inhparent = 'mailqueue.email_history'::regclass
   AND right(c.relname, 7) < to_char(now() - interval '2 months', 'YYYY_MM')
"""


async def old_month(conn: Conn) -> None:
    await conn.execute("SELECT mailqueue.make_partitions_of(current_date - 200)")


@pytest.fixture
async def reader(database: DatabaseSettings) -> AsyncIterator[Conn]:
    """A transaction that reads history for a long time."""
    async with connect(database) as opened, opened.transaction(force_rollback=True):
        await opened.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield opened


@pytest.fixture
async def producer(database: DatabaseSettings) -> AsyncIterator[Conn]:
    async with connect(database) as opened:
        # Shorter than what retiring waits for a lock itself: behind it an insert would fail.
        await opened.execute("SET lock_timeout = '1500ms'")
        yield opened


@pytest.mark.deep
async def test_inserts_go_on_while_a_reader_keeps_a_month_from_being_retired(
    desk: MaintenanceContext, reader: Conn, producer: Conn
) -> None:
    """DROP and DETACH would wait for the reader, and all inserts for them."""
    await old_month(desk.conn)
    await make.rows(reader, "SELECT count(*) FROM mailqueue.email_history")

    retiring = asyncio.create_task(partitions.run(desk, patience=3))
    while not retiring.done():
        await make.queued_email(producer)
        await asyncio.sleep(0.05)
    report = await retiring

    assert report.needs
    assert "cannot be dropped while a transaction may read it" in report.needs[0]
    assert await make.scalar(producer, "SELECT count(*) FROM mailqueue.email_queue") > 0


async def test_a_month_that_was_kept_is_retired_when_the_reader_is_gone(
    desk: MaintenanceContext, reader: Conn
) -> None:
    await old_month(desk.conn)
    await make.rows(reader, "SELECT count(*) FROM mailqueue.email_history")
    await partitions.run(desk, patience=0)
    await reader.execute("ROLLBACK")

    report = await partitions.run(desk, patience=30)

    assert report.needs == ()
    assert await make.scalar(desk.conn, OLD_MONTHS) == 0


async def test_this_month_and_those_around_it_stay_though_empty(desk: MaintenanceContext) -> None:
    before = [each.name for each in await tasks_store.partitions(desk.conn)]

    await partitions.run(desk)

    assert [each.name for each in await tasks_store.partitions(desk.conn)] == before


async def test_missing_months_are_made(desk: MaintenanceContext) -> None:
    last = (await tasks_store.partitions(desk.conn))[-1]
    await desk.conn.execute(f"DROP TABLE mailqueue.{last.name}".encode())

    report = await partitions.run(desk)

    assert report.counts["made"] == 1
    assert await tasks_store.days_ahead(desk.conn) > partitions.TOO_FEW_DAYS


async def test_rows_that_came_at_the_last_moment_bring_their_month_back(
    desk: MaintenanceContext,
) -> None:
    await old_month(desk.conn)
    month = next(
        each for each in await tasks_store.partitions(desk.conn) if each.parent == "send_logs"
    )
    await tasks_store.detach(desk.conn, month)
    await desk.conn.execute(
        f"INSERT INTO mailqueue.{month.name} (id, sent_at, email_id, project_id, attempt, status,"
        " recipient_email) SELECT 1, %s::date + interval '1 d', gen_random_uuid(), id, 1, 'sent',"
        " 'ann@example.com' FROM mailqueue.projects".encode(),
        (month.month,),
    )

    await partitions.run(desk)

    assert await make.scalar(desk.conn, "SELECT count(*) FROM mailqueue.send_logs") == 1
