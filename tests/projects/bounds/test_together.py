"""Concurrent producers at a bound, and the limits of all projects together."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from psycopg import DatabaseError

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.projects.bounds.steps import (
    INSERT,
    MANY,
    counted,
    shop,
    used,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
async def own(database: DatabaseSettings) -> AsyncIterator[Conn]:
    """A connection that commits."""
    async with connect(database) as opened:
        yield opened


async def test_one_large_transaction_sees_its_own_mail(conn: Conn) -> None:
    await make.sender_account(conn)
    await shop(conn, max_queued_emails=2000)
    await counted(conn)
    with pytest.raises(DatabaseError, match="is full"):
        async with conn.transaction():
            await conn.execute(MANY, [5000])
    await conn.execute(MANY, [1900])


async def test_no_producer_waits_for_one_with_an_open_transaction(
    own: Conn, database: DatabaseSettings
) -> None:
    await shop(own, max_queued_emails=1000)
    async with connect(database) as slow, slow.transaction():
        await slow.execute(MANY, [10])
        await own.execute("SET lock_timeout = '2s'")
        await own.execute(INSERT)
        await counted(own)
        await settle(own, await claim(own, await make.worker(own)))
        await counted(own)


async def test_sixteen_producers_exceed_a_bound_by_no_more_than_they_have_open(
    own: Conn, database: DatabaseSettings
) -> None:
    project = await shop(own, max_queued_emails=300)

    async def produce() -> int:
        accepted = 0
        async with connect(database) as mine:
            for _ in range(60):
                try:
                    await mine.execute(INSERT)
                except DatabaseError:
                    break
                accepted += 1
        return accepted

    accepted = sum(await asyncio.gather(*(produce() for _ in range(16))))

    assert 300 <= accepted <= 316
    assert (await used(own, project.id))["queued_emails"] == accepted
    await counted(own)
    assert await make.scalar(own, "SELECT mailqueue.recount_usage()") == 0


async def test_with_workers_that_gather_a_bound_is_exceeded_by_a_second_at_most(
    own: Conn, database: DatabaseSettings
) -> None:
    project = await shop(own, max_queued_emails=300)
    is_over = asyncio.Event()

    async def gather() -> None:
        async with connect(database) as mine:
            while not is_over.is_set():
                await mine.execute("SELECT mailqueue.gather_lanes()")
                await asyncio.sleep(0.02)

    async def produce() -> list[float]:
        times: list[float] = []
        async with connect(database) as mine:
            while not is_over.is_set():
                try:
                    await mine.execute(INSERT)
                    times.append(asyncio.get_running_loop().time())
                except DatabaseError:
                    await asyncio.sleep(0.05)
        return times

    async with asyncio.TaskGroup() as group:
        group.create_task(gather())
        producers = [group.create_task(produce()) for _ in range(16)]
        await asyncio.sleep(4)
        is_over.set()

    times = sorted(at for each in producers for at in each.result())
    beyond = times[300:]
    assert not beyond or beyond[-1] - times[299] < 2.5
    assert (await used(own, project.id))["queued_emails"] == len(times)


async def test_above_the_limit_of_all_the_fullest_are_refused_and_never_all(conn: Conn) -> None:
    await make.sender_account(conn)
    await shop(conn)
    await make.sender_account(conn, project_id=await make.project(conn, "small"))
    await conn.execute(
        "UPDATE mailqueue.system_settings SET value = '20' WHERE name = 'queued_emails_limit'"
    )
    await conn.execute(MANY, [16])
    await make.queued_emails(conn, 5)
    await make.queued_email(conn, project="small")
    await counted(conn)

    with pytest.raises(DatabaseError, match="22 emails are queued, queued_emails_limit") as info:
        async with conn.transaction():
            await conn.execute(INSERT)
    assert info.value.sqlstate == "MQ002"
    await make.queued_email(conn)
    await make.queued_email(conn, project="small")

    # Neither is the fullest left alone once it is the others that grow.
    await make.queued_emails(conn, 30)
    await counted(conn)
    with pytest.raises(DatabaseError, match="is full"):
        async with conn.transaction():
            await make.queued_email(conn)
    await make.queued_email(conn, project="small")

    await make.by_hand(conn)
    await conn.execute("DELETE FROM mailqueue.email_queue")
    await counted(conn)
    await conn.execute(INSERT)


async def test_before_all_mail_is_refused_for_want_of_space_the_largest_project_is(
    conn: Conn,
) -> None:
    await make.sender_account(conn)
    await shop(conn)
    await conn.execute(MANY, [5])
    await make.queued_email(conn)
    await counted(conn)
    report = "SELECT is_refused FROM mailqueue.report_space('db-1', '{data}', %s, '{53687091200}')"

    assert await make.scalar(conn, report, [3 << 29]) is False
    with pytest.raises(DatabaseError, match="this project stores the most, 40 bytes") as info:
        async with conn.transaction():
            await conn.execute(INSERT)
    assert info.value.sqlstate == "MQ002"
    await make.queued_email(conn)

    assert await make.scalar(conn, report, [3 << 30]) is False
    await conn.execute(INSERT)
