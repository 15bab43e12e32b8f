"""Which mail a claim takes, and in which order."""

import asyncio

import pytest
from psycopg.errors import ActiveSqlTransaction

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import LEASE, are_lanes_ready, claim, counted, lane, opened, row, settle

pytestmark = pytest.mark.anyio


async def test_higher_priorities_go_first(conn: Conn) -> None:
    """Fair."""
    await make.sender_account(conn)
    for priority in (3, 1, 2, 0):
        await make.queued_email(conn, priority=priority)
    worker = await make.worker(conn)
    await make.highest_class_first(conn)

    order = [(await claim(conn, worker, limit=1))[0].id for _ in range(4)]

    priorities = [(await row(conn, email, "priority"))[0] for email in order]
    assert priorities == [0, 1, 2, 3]


async def test_inside_a_lane_the_mail_due_first_goes_first(conn: Conn) -> None:
    await make.sender_account(conn)
    first, second, third = await make.queued_emails(conn, 3)
    for email, minutes in ((second, 1), (third, 2), (first, 3)):
        await conn.execute(
            "UPDATE mailqueue.email_queue SET run_at = now() - %s * interval '1 min' WHERE id = %s",
            (minutes, email),
        )
    worker = await make.worker(conn)

    order = [(await claim(conn, worker, limit=1))[0].id for _ in range(3)]

    assert order == [first, third, second]


async def test_projects_take_turns_by_weight(conn: Conn) -> None:
    """Fair: a lane with three times the weight gets three times the rows."""
    heavy, light = await make.project(conn, "heavy"), await make.project(conn, "light")
    for project in (heavy, light):
        await make.sender_account(conn, project_id=project)
        await make.queued_emails(conn, 120, project_id=project, project=None)
    await conn.execute("UPDATE mailqueue.lanes SET weight = 300 WHERE project_id = %s", (heavy,))
    worker = await make.worker(conn)

    taken = [email for _ in range(10) for email in await claim(conn, worker, limit=12)]

    of_heavy = sum(1 for email in taken if email.project_id == heavy)
    assert len(taken) == 120
    assert 84 <= of_heavy <= 96  # 90, give or take one claim's rounding


async def test_a_small_project_is_not_behind_a_big_backlog(conn: Conn) -> None:
    """Fair."""
    big, small = await make.project(conn, "big"), await make.project(conn, "small")
    for project, count in ((big, 300), (small, 2)):
        await make.sender_account(conn, project_id=project)
        await make.queued_emails(conn, count, project_id=project, project=None)
    worker = await make.worker(conn)

    taken = await claim(conn, worker, limit=20)

    assert sum(1 for email in taken if email.project_id == small) == 2


async def test_mail_due_later_is_not_claimed(conn: Conn) -> None:
    await make.sender_account(conn)
    later = await make.queued_email(conn)
    await conn.execute(
        "UPDATE mailqueue.email_queue SET run_at = now() + interval '1 hour' WHERE id = %s",
        (later,),
    )
    due = await make.queued_email(conn)
    worker = await make.worker(conn)

    assert [email.id for email in await claim(conn, worker)] == [due]
    assert await claim(conn, worker) == []


async def test_mail_due_later_wakes_its_lane_by_itself(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        worker = await make.worker(conn)
        soon = await make.scalar(
            conn,
            "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body, run_at)"
            " VALUES ('ann@example.com', 's', 't', clock_timestamp() + interval '1 hour')"
            " RETURNING id",
        )
        assert await claim(conn, worker) == []
        gathered = await claims_store.gather_lanes(conn)
        assert gathered.next_wake is not None
        assert 0 < gathered.next_wake <= 3600

        for table, column in (("email_queue", "run_at"), ("lanes", "blocked_until")):
            # The hour passes; the lane is not told of it.
            await conn.execute(
                f"UPDATE mailqueue.{table} SET {column} = {column} - interval '1 hour'".encode()
            )

        assert [email.id for email in await claim(conn, worker)] == [soon]


async def test_a_retry_waits_and_then_goes_on_counting(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)
    first = await claim(conn, worker)
    await settle(conn, first, Ending.RETRY, reason="busy", wait=LEASE)

    assert await claim(conn, worker) == []
    assert await row(conn, email, "status, attempts, last_error") == ("pending", 1, "busy")

    await conn.execute("UPDATE mailqueue.email_queue SET run_at = now() - interval '1 s'")
    await conn.execute("UPDATE mailqueue.lanes SET blocked_until = now(), probed_at = '-infinity'")
    again = await claim(conn, worker)
    assert [(one.id, one.attempts) for one in again] == [(email, 2)]
    assert again[0].claim_no > first[0].claim_no


async def test_rows_another_worker_is_claiming_are_skipped_not_waited_for(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 2) as (one, two):
        await make.sender_account(one)
        other = await make.project(one, "other")
        await make.sender_account(one, project_id=other)
        mine = await make.queued_emails(one, 5)
        yours = await make.queued_emails(one, 5, project_id=other, project=None)
        workers = [await make.worker(one), await make.worker(one)]
        await claims_store.gather_lanes(one)
        await one.execute("UPDATE mailqueue.lanes SET vtime = 9 WHERE project_id = %s", (other,))

        async with one.transaction():
            first = await claims_store.claim(one, workers[0], limit=5, lease=LEASE)
            async with asyncio.timeout(30):
                second = await claims_store.claim(two, workers[1], limit=10, lease=LEASE)

        assert {email.id for email in first} <= {*mine, *yours}
        assert {email.id for email in first}.isdisjoint(email.id for email in second)


@pytest.mark.deep
async def test_a_locked_row_delays_no_claim(database: DatabaseSettings) -> None:
    async with opened(database, 2) as (holder, conn):
        await make.sender_account(conn)
        locked, free = await make.queued_emails(conn, 2)
        worker = await make.worker(conn)

        async with holder.transaction():
            await holder.execute(
                "SELECT FROM mailqueue.email_queue WHERE id = %s FOR UPDATE", (locked,)
            )
            async with asyncio.timeout(30):
                taken = await claim(conn, worker)
        assert [email.id for email in taken] == [free]

        for _ in range(100):  # and it is found afterwards
            if taken := await claim(conn, worker):
                break
            await asyncio.sleep(0.02)
        assert [email.id for email in taken] == [locked]


async def test_two_workers_never_get_the_same_row(database: DatabaseSettings) -> None:
    async with opened(database, 4) as conns:
        await make.sender_account(conns[0])
        ids = await make.queued_emails(conns[0], 200)
        workers = [await make.worker(conns[0]) for _ in conns]

        async def take_all(conn: Conn, worker: int) -> list[object]:
            taken: list[object] = []
            for _ in range(200):
                some = await claim(conn, worker, limit=7)
                taken += [email.id for email in some]
                if len(taken) and not some:
                    break
            return taken

        both = await asyncio.gather(*map(take_all, conns, workers))

        got = [email for taken in both for email in taken]
        assert sorted(map(str, got)) == sorted(map(str, ids))


async def test_an_attempt_is_counted_when_claimed(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)

    (taken,) = await claim(conn, worker)

    assert taken.attempts == 1
    assert await row(conn, email, "attempts, worker_id, claim_no, status") == (
        1, worker, taken.claim_no, "assigned"
    )  # fmt: skip


async def test_a_claim_never_takes_more_than_was_asked_for(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await make.queued_emails(conn, 30)
    worker = await make.worker(conn)

    taken = await claim(conn, worker, limit=7)

    assert len(taken) == 7
    assert (await counted(conn, account)).reserved == 7


async def test_a_drained_lane_is_passed_by_until_mail_comes(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_email(conn)
    worker = await make.worker(conn)
    await claim(conn, worker)
    await conn.execute("UPDATE mailqueue.lanes SET probed_at = '-infinity'")
    assert await claim(conn, worker) == []
    assert await lane(conn) == (False, "empty")

    await make.queued_email(conn)
    assert len(await claim(conn, worker)) == 1


async def test_claiming_needs_to_see_the_newest_commits(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        worker = await make.worker(conn)
        await conn.execute("SET default_transaction_isolation = 'repeatable read'")

        with pytest.raises(ActiveSqlTransaction, match="READ COMMITTED"):
            await claims_store.claim(conn, worker, limit=1, lease=LEASE)


async def test_who_claimed_nothing_is_told_whether_others_held_it(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 2) as (one, two):
        await make.sender_account(one)
        worker, other = await make.worker(one), await make.worker(one)
        await make.queued_emails(one, 5)
        await claims_store.gather_lanes(one)

        async with one.transaction():
            await claims_store.claim(one, worker, limit=2, lease=LEASE)
            assert await claims_store.claim(two, other, limit=10, lease=LEASE) == []
            assert await are_lanes_ready(two)

        assert len(await claims_store.claim(two, other, limit=10, lease=LEASE)) == 3
        assert not await are_lanes_ready(two)
