"""Limit: the rate of the whole installation, over all projects and workers."""

import asyncio
from uuid import UUID

import pytest
from psycopg.errors import InvalidParameterValue

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.filling import fill
from tests.mail.claim.steps import LEASE, claim, lane, opened, row, settle

pytestmark = pytest.mark.anyio
NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"


async def brake(conn: Conn, rate: float | None) -> bool:
    return bool(await make.scalar(conn, "SELECT mailqueue.set_max_send_rate(%s::numeric)", rate))


async def seconds_pass(conn: Conn, seconds: float) -> None:
    await conn.execute(
        "UPDATE mailqueue.limit_counters SET tokens_at = tokens_at - make_interval(secs => %s)",
        (seconds,),
    )


async def test_all_projects_share_one_rate(conn: Conn) -> None:
    """At most a tenth of a second ahead."""
    await make.sender_account(conn)
    other = await make.project(conn)
    await make.sender_account(conn, project_id=other)
    await make.queued_emails(conn, 20)
    await fill(conn, 20, project=other)
    await brake(conn, 0.001)
    await conn.execute("UPDATE mailqueue.limits SET burst = 7 WHERE id = 0")
    await conn.execute("UPDATE mailqueue.limit_counters SET tokens = 7 WHERE limit_id = 0")
    workers = [await make.worker(conn), await make.worker(conn)]

    taken = [len(await claim(conn, worker, limit=5)) for worker in workers]

    assert taken == [5, 2]
    assert await claim(conn, workers[0]) == []


async def test_what_time_brings_back_may_go(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_emails(conn, 20)
    await brake(conn, 30)
    worker = await make.worker(conn)
    assert len(await claim(conn, worker)) == 3

    await seconds_pass(conn, 60)

    assert len(await claim(conn, worker)) == 3


async def test_what_is_given_back_may_go_again(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_emails(conn, 20)
    await brake(conn, 0.001)
    await conn.execute("UPDATE mailqueue.limits SET burst = 6 WHERE id = 0")
    await conn.execute("UPDATE mailqueue.limit_counters SET tokens = 6 WHERE limit_id = 0")
    worker = await make.worker(conn)
    taken = await claim(conn, worker)
    assert len(taken) == 6

    await settle(conn, taken[:4], Ending.DEFER)
    await settle(conn, taken[4:], Ending.SENT)

    assert len(await claim(conn, worker)) == 4


async def test_lanes_stay_ready_so_that_priorities_hold(conn: Conn) -> None:
    """Fair: no mail is skipped because it was examined while the rate was used up."""
    await make.sender_account(conn)
    await make.queued_emails(conn, 5)
    await brake(conn, 0.001)
    worker = await make.worker(conn)
    assert len(await claim(conn, worker)) == 1
    urgent = await make.queued_email(conn, priority=0)

    assert await claim(conn, worker) == []
    assert await lane(conn) == await lane(conn, priority=0) == (True, None)

    await seconds_pass(conn, 1000)
    await make.highest_class_first(conn)
    assert [email.id for email in await claim(conn, worker)] == [urgent]


async def test_idle_workers_know_when_to_come_back(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_emails(conn, 5)
    await brake(conn, 2)
    worker = await make.worker(conn)
    await claim(conn, worker)

    gathered = await claims_store.gather_lanes(conn)

    assert gathered.next_wake == pytest.approx(0.5, abs=0.2)


async def test_without_a_brake_nothing_is_reserved(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_emails(conn, 50)
    await brake(conn, 1)
    assert await brake(conn, None)
    worker = await make.worker(conn)

    assert len(await claim(conn, worker)) == 50


async def test_a_message_of_several_recipients_counts_with_all_of_them(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_email(conn, cc=["cy@example.com", "dee@example.com"])
    await make.queued_emails(conn, 3)
    await brake(conn, 20)
    worker = await make.worker(conn)

    assert sum(email.recipients for email in await claim(conn, worker)) == 3
    assert await claim(conn, worker) == []


async def test_only_a_change_is_recorded(conn: Conn) -> None:
    changes = [await brake(conn, rate) for rate in (5, 5, 8, None, None)]

    assert changes == [True, False, True, True, False]
    assert await make.rows(
        conn,
        "SELECT detail->>'from', detail->>'to' FROM mailqueue.audit_events"
        " WHERE action = 'installation.rate_changed' ORDER BY id",
    ) == [(None, "5"), ("5", "8"), ("8", None)]


@pytest.mark.parametrize("rate", [0, -1, 1_000_001])
async def test_a_rate_that_makes_no_sense_is_refused(conn: Conn, rate: int) -> None:
    with pytest.raises(InvalidParameterValue, match="a second"):
        await brake(conn, rate)


async def test_why_names_it(conn: Conn) -> None:
    await make.sender_account(conn)
    first, second = await make.queued_emails(conn, 2)
    await brake(conn, 0.001)
    worker = await make.worker(conn)
    (taken,) = await claim(conn, worker)
    waiting = ({first, second} - {taken.id}).pop()

    said = await make.scalar(conn, "SELECT mailqueue.why(%s)", waiting)

    assert "whole installation waits until" in said
    assert "MAILQUEUE_MAX_SEND_RATE" in said
    assert await make.rows(
        conn, "SELECT holds_for, used_up_until IS NOT NULL FROM mailqueue.rates"
    ) == [("all mail", True)]
    assert await make.rows(
        conn, "SELECT reason, until IS NOT NULL FROM mailqueue.queue_blocked"
    ) == [("all mail is sent as fast as MAILQUEUE_MAX_SEND_RATE allows", True)]
    assert await make.rows(
        conn, "SELECT blocked_reason, blocked_until IS NOT NULL FROM mailqueue.queue_depth"
    ) == [("brake", True)]


async def test_reservations_of_accounts_are_kept_beside_it(conn: Conn) -> None:
    account = await make.sender_account(conn, daily_limit=2)
    await make.queued_emails(conn, 5)
    await brake(conn, 1000)
    worker = await make.worker(conn)

    taken = await store_claim(conn, worker)

    assert len(taken) == 2
    assert (await row(conn, taken[0], "assigned_to"))[0] == account


async def store_claim(conn: Conn, worker: int) -> list[UUID]:
    await claims_store.gather_lanes(conn)
    return [one.id for one in await claims_store.claim(conn, worker, limit=50, lease=LEASE)]


async def test_many_workers_of_many_projects_together_keep_the_rate(
    database: DatabaseSettings,
) -> None:
    """In any period at most a tenth of a second's worth and what the rate allowed meanwhile."""
    per_second = 100
    async with opened(database, 6) as conns:
        for _ in range(len(conns)):
            project = await make.project(conns[0])
            await make.sender_account(conns[0], project_id=project)
            await fill(conns[0], 300, project=project)
        await brake(conns[0], per_second)
        workers = [await make.worker(conns[0]) for _ in conns]
        begun, sent = await make.scalar(conns[0], NOW), 0

        async def work(conn: Conn, worker: int) -> None:
            nonlocal sent
            while sent < 150:
                taken = await claim(conn, worker, limit=3)
                sent += len(taken)
                await settle(conn, taken, Ending.SENT)
                await asyncio.sleep(0 if taken else 0.005)

        async with asyncio.timeout(60):
            await asyncio.gather(*map(work, conns, workers))

        passed = await make.scalar(conns[0], NOW) - begun
        assert 150 <= sent <= per_second / 10 + per_second * passed
