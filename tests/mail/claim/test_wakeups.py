"""No mail stays in a lane that is marked empty."""

import asyncio
from datetime import timedelta

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.queue import store as kernel
from mailqueue.queue import wakeup
from mailqueue.queue.wakeup import Wakeup
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import LEASE, claim, difference, lane, opened, until_waiting

pytestmark = pytest.mark.anyio


async def sweep(conn: Conn) -> None:
    """Make the next claims read signals below the floor."""
    await conn.execute("UPDATE mailqueue.lanes SET probed_at = '-infinity'")


async def test_mail_accepted_while_a_claim_drains_its_lane_is_found(
    database: DatabaseSettings,
) -> None:
    """The claim marks the lane empty while mail is committed: gathering must wait for the claim."""
    async with opened(database, 3) as (claiming, producing, gathering):
        await make.sender_account(producing)
        await make.queued_email(producing)
        worker = await make.worker(producing)
        await claims_store.gather_lanes(gathering)
        await sweep(producing)

        async with claiming.transaction():
            assert len(await claims_store.claim(claiming, worker, limit=10, lease=LEASE)) == 1
            second = await make.queued_email(producing)
            waking = asyncio.create_task(claims_store.gather_lanes(gathering))
            await until_waiting(producing, gathering)
        await waking

        assert await lane(producing) == (True, None)
        found = await claims_store.claim(claiming, worker, limit=10, lease=LEASE)
        assert [email.id for email in found] == [second]


async def test_mail_is_found_however_late_its_transaction_commits(
    database: DatabaseSettings,
) -> None:
    """Signals are read from a floor; a signal of an old transaction must not lie below it."""
    async with opened(database, 2) as (slow, conn):
        await make.sender_account(conn)
        worker = await make.worker(conn)
        async with slow.transaction():
            late = await make.queued_email(slow)
            for _ in range(1100):  # more transactions than the floor moves by
                await conn.execute("SELECT pg_current_xact_id()")
            await make.queued_email(conn)
            assert len(await claim(conn, worker)) == 1
            await sweep(conn)
            assert await claim(conn, worker) == []

        assert [email.id for email in await claim(conn, worker)] == [late]
        assert await difference(conn) == 0


async def test_a_rolled_back_insert_leaves_nothing(database: DatabaseSettings) -> None:
    """Accept."""
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        async with conn.transaction(force_rollback=True):
            await make.queued_emails(conn, 3)

        assert await claim(conn, await make.worker(conn)) == []
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 0
        assert await difference(conn) == 0


async def test_one_gathers_and_the_others_go_on(database: DatabaseSettings) -> None:
    async with opened(database, 2) as (one, two):
        await make.sender_account(one)
        await make.queued_email(one)
        async with one.transaction():
            await claims_store.gather_lanes(one)
            async with asyncio.timeout(30):
                assert (await claims_store.gather_lanes(two)).woken == -1


async def test_a_queue_at_rest_is_looked_at_without_writing(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        await make.queued_emails(conn, 3)
        await claim(conn, await make.worker(conn))
        await claims_store.gather_lanes(conn)
        async with conn.transaction():
            assert (await claims_store.gather_lanes(conn)).woken == 0
            written = "SELECT pg_current_xact_id_if_assigned() IS NOT NULL"
            assert await make.scalar(conn, written) is False


async def test_gathering_leaves_no_dead_row_behind_while_a_snapshot_is_held(
    database: DatabaseSettings,
) -> None:
    """Dead rows would make each gathering slower while a snapshot is held."""
    async with opened(database, 2) as (conn, looking):
        await make.sender_account(conn)
        await make.queued_email(conn)
        await claims_store.gather_lanes(conn)  # the first sets the floor, as one in a thousand does
        await looking.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        await looking.execute("SELECT FROM mailqueue.lane_gather")
        place = "SELECT ctid::text FROM mailqueue.lane_gather"
        before = await make.scalar(conn, place)
        for _ in range(20):
            await make.queued_email(conn)
            assert (await claims_store.gather_lanes(conn)).woken >= 1
        assert await make.scalar(conn, place) == before
        await looking.execute("ROLLBACK")


async def test_mail_accepted_is_counted_once_for_the_books(database: DatabaseSettings) -> None:
    """Books."""
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        await make.queued_emails(conn, 7)
        assert await difference(conn) == 0  # still carried by the signals

        await claims_store.gather_lanes(conn)
        await claims_store.gather_lanes(conn)

        assert await difference(conn) == 0
        assert await make.scalar(conn, "SELECT sum(emails) FROM mailqueue.accepted_days") == 7


async def test_no_disk_is_waited_for_when_lanes_are_woken(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        await conn.execute("SET synchronous_commit = on")
        async with conn.transaction():
            await claims_store.gather_lanes(conn)
            assert await make.scalar(conn, "SHOW synchronous_commit") == "off"
        assert await make.scalar(conn, "SHOW synchronous_commit") == "on"


async def test_the_books_notice_a_row_that_is_gone(conn: Conn) -> None:
    """Books."""
    email = await make.queued_email(conn)
    await make.by_hand(conn)
    await conn.execute("DELETE FROM mailqueue.email_queue WHERE id = %s", (email,))

    assert await difference(conn) == 1


@pytest.mark.deep
async def test_only_one_transaction_notifies_a_parked_worker(
    database: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakeup, "POLL_SECONDS", 3600.0)  # only a notification ends the wait
    link = Link(database, "test/park")
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        worker = await make.worker(conn)
        bell = Wakeup(database, link, queue="email_queue", worker=worker)
        listening = asyncio.create_task(bell.listen_forever())
        try:
            await bell.park()
            assert await make.scalar(conn, "SELECT worker_id FROM mailqueue.waiters") == worker
            for _ in range(6000):
                if bell._listener.is_listening:
                    break
                await asyncio.sleep(0.01)
            await make.queued_email(conn)
            async with asyncio.timeout(60):
                await bell.wait(None)
            await bell.unpark()
            assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.waiters") == 0
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await link.close()


async def test_a_lost_workers_wish_to_be_rung_goes_with_it(conn: Conn) -> None:
    """NoWait: an unneeded NOTIFY would cost every commit the notify lock."""
    worker = await make.worker(conn)
    await kernel.park(conn, "email_queue", worker)
    await make.silent(conn, worker)

    await kernel.rescue(conn, silence=timedelta(seconds=30))

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.waiters") == 0


async def test_producers_wait_for_no_claim_and_no_settling(database: DatabaseSettings) -> None:
    """NoWait."""
    async with opened(database, 2) as (working, producing):
        await make.sender_account(working, daily_limit=100)
        await make.queued_emails(working, 3)
        worker = await make.worker(working)
        await claims_store.gather_lanes(working)
        async with working.transaction():
            await claims_store.claim(working, worker, limit=10, lease=LEASE)
            async with asyncio.timeout(30):
                assert len(await make.queued_emails(producing, 3)) == 3


async def test_producers_wait_for_no_other_producer(database: DatabaseSettings) -> None:
    """NoWait."""
    async with opened(database, 2) as (one, two), one.transaction():
        await make.queued_email(one, idempotency_key="a")
        async with asyncio.timeout(30):
            await make.queued_email(two, idempotency_key="b")
