"""Window: mail of a dead worker is returned by its marks, and only of dead workers."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import (
    SILENCE,
    beat,
    claim,
    counted,
    difference,
    lose,
    mark,
    opened,
    row,
    sent,
    settle,
    until_waiting,
)

pytestmark = pytest.mark.anyio


async def test_rescue_leaves_workers_that_beat_alone(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_email(conn)
    worker = await make.worker(conn)
    await claim(conn, worker)
    await make.silent(conn, worker, since=timedelta(seconds=29))

    assert await kernel.rescue(conn, silence=SILENCE) == 0
    assert await beat(conn, worker) is True


async def test_a_worker_that_beat_before_the_clock_was_set_back_is_missed_all_the_same(
    conn: Conn,
) -> None:
    """A live worker has time to beat again first."""
    await make.sender_account(conn)
    await make.queued_email(conn)
    worker = await make.worker(conn)
    await claim(conn, worker)
    await make.silent(conn, worker, since=timedelta(days=-1))

    assert await kernel.rescue(conn, silence=SILENCE) == 0
    beat_at = await make.scalar(conn, "SELECT beat_at <= clock_timestamp() FROM mailqueue.workers")
    assert beat_at is True
    assert await lose(conn, worker) == 1


async def test_the_mail_of_a_worker_is_returned_even_if_its_row_was_deleted(
    conn: Conn,
) -> None:
    account = await make.sender_account(conn)
    await make.queued_emails(conn, 3)
    worker = await make.worker(conn)
    handed, *rest = await claim(conn, worker)
    await mark(conn, worker, [handed])
    await conn.execute("DELETE FROM mailqueue.workers")

    assert await kernel.rescue(conn, silence=SILENCE) == 3

    assert await row(conn, handed.id, "status, unknowns") == ("pending", 1)
    assert await row(conn, rest[0].id, "status, unknowns") == ("pending", 0)
    assert (await counted(conn, account)).reserved == 0
    assert await mark(conn, worker, rest) == {}


async def test_rescue_takes_the_launch_that_is_known_to_be_dead_at_once(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_emails(conn, 2)
    dead_launch = uuid4()
    dead, alive = [
        await kernel.start_worker(conn, kind="send", host="h", pid=1, version="v", launch_id=launch)
        for launch in (dead_launch, uuid4())
    ]
    (lost,) = await claim(conn, dead, limit=1)
    (kept,) = await claim(conn, alive, limit=1)

    assert await kernel.rescue(conn, silence=SILENCE, launch_id=dead_launch) == 1

    assert await make.status_of(conn, lost.id) == "pending"
    assert await make.status_of(conn, kept.id) == "assigned"
    assert await beat(conn, dead) is False


async def test_rescue_of_a_launch_waits_for_the_last_transaction_of_its_process(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (conn, last, rescuer):
        await make.sender_account(conn)
        await make.queued_email(conn)
        launch = uuid4()
        dead = await kernel.start_worker(
            conn, kind="send", host="h", pid=1, version="v", launch_id=launch
        )
        await claim(conn, dead)
        async with last.transaction():
            await last.execute("SELECT FROM mailqueue.workers FOR KEY SHARE")
            rescuing = asyncio.create_task(
                kernel.rescue(rescuer, silence=SILENCE, launch_id=launch)
            )
            await until_waiting(conn, rescuer)
        assert await rescuing == 1


async def test_rescue_of_several_workers_locks_the_total_of_marks_before_limits_as_claims_do(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (conn, claimer, rescuer):
        account = await make.sender_account(conn)
        await make.queued_emails(conn, 3)
        first, second, alive = [await make.worker(conn) for _ in range(3)]
        await claim(conn, first, limit=1)
        await mark(conn, second, await claim(conn, second, limit=1))
        for each in (first, second):
            await make.silent(conn, each, since=2 * SILENCE)
        async with claimer.transaction():
            await claimer.execute("SELECT FROM mailqueue.server_identity FOR SHARE")
            rescuing = asyncio.create_task(kernel.rescue(rescuer, silence=SILENCE))
            await until_waiting(conn, rescuer)
            assert len(await claim(claimer, alive, limit=1)) == 1
        assert await rescuing == 2

        after = await counted(conn, account)
        assert (after.sent, after.reserved) == (1, 1)
        assert await difference(conn) == 0


async def test_rescue_of_a_launch_whose_row_stays_locked_ends_all_the_same(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 2) as (conn, last):
        launch = uuid4()
        await kernel.start_worker(conn, kind="send", host="h", pid=1, version="v", launch_id=launch)
        async with last.transaction():
            await last.execute("SELECT FROM mailqueue.workers FOR KEY SHARE")

            assert await kernel.rescue(conn, silence=SILENCE, launch_id=launch) == 0
        assert (
            await make.scalar(conn, "SELECT count(*) FROM mailqueue.workers WHERE lost_at IS NULL")
            == 1
        )


async def test_rescuing_twice_changes_nothing_more(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await make.queued_emails(conn, 3)
    worker = await make.worker(conn)
    await claim(conn, worker)

    assert await lose(conn, worker) == 3
    assert await kernel.rescue(conn, silence=SILENCE) == 0
    assert (await counted(conn, account)).reserved == 0


async def test_unmarked_mail_goes_back_as_if_never_taken(conn: Conn) -> None:
    account = await make.sender_account(conn, daily_limit=10)
    email = await make.queued_email(conn)
    before = await row(conn, email, "status, attempts, run_at, unknowns, last_error")
    worker = await make.worker(conn)
    await claim(conn, worker)
    assert (await counted(conn, account)).reserved == 1

    await lose(conn, worker)

    assert await row(conn, email, "status, attempts, run_at, unknowns, last_error") == before
    assert await row(conn, email, "claim_no, worker_id, lost_claim_no") == (None, None, None)
    assert (await counted(conn, account)).reserved == (await counted(conn, account)).sent == 0
    assert (await counted(conn)).reserved == 0


async def test_marked_mail_counts_as_sent_and_is_resent_once_and_then_held(conn: Conn) -> None:
    """Limit: a mail that may have been sent stays counted."""
    account = await make.sender_account(conn)
    email = await make.queued_email(conn)
    fates = []
    for _ in range(2):
        worker = await make.worker(conn)
        taken = await claim(conn, worker)
        await mark(conn, worker, taken)
        await lose(conn, worker)
        fates.append(await row(conn, email, "status, attempts, unknowns"))

    assert fates == [("pending", 1, 1), ("held", 2, 2)]
    assert (await counted(conn, account)).sent == 2
    assert (await counted(conn, account)).reserved == 0
    assert await make.rows(conn, "SELECT type FROM mailqueue.email_events") == [("held",)]
    assert "outcome_unknown" in (await row(conn, email, "last_error"))[0]


async def test_marked_mail_that_must_not_be_sent_twice_is_held(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn, category="marketing")
    worker = await make.worker(conn)
    await mark(conn, worker, await claim(conn, worker))

    await lose(conn, worker)

    assert await row(conn, email, "status, attempts") == ("held", 1)
    assert "outcome_unknown" in await make.scalar(conn, "SELECT mailqueue.why(%s)", email)
    assert await difference(conn) == 0


async def test_mail_still_open_beside_a_new_mark_is_remembered(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_emails(conn, 3, delivery="hold")
    worker = await make.worker(conn)
    first, second, third = await claim(conn, worker)
    await mark(conn, worker, [first])
    await mark(conn, worker, [second], opened=[first])

    await lose(conn, worker)

    fates = [await make.status_of(conn, email.id) for email in (first, second, third)]
    assert fates == ["held", "held", "pending"]


async def test_what_was_settled_before_stays_settled(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_emails(conn, 2)
    worker = await make.worker(conn)
    first, second = await claim(conn, worker)
    await mark(conn, worker, [first, second])
    await sent(conn, [first])

    assert await lose(conn, worker) == 1
    assert await make.status_of(conn, first.id) == "sent"
    assert await make.status_of(conn, second.id) == "pending"


async def test_a_worker_that_leaves_gives_back_what_it_did_not_start(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await make.queued_emails(conn, 3)
    worker = await make.worker(conn)
    await claim(conn, worker)
    await kernel.park(conn, "email_queue", worker)

    await kernel.stop_worker(conn, worker)

    assert await make.rows(conn, "SELECT DISTINCT status, attempts FROM mailqueue.email_queue") == [
        ("pending", 0)
    ]
    assert (await counted(conn, account)).reserved == 0
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.waiters") == 0
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.send_intents") == 0
    status = "SELECT status FROM mailqueue.worker_status WHERE id = %s"
    assert await make.scalar(conn, status, worker) == "stopped"


async def test_a_message_of_several_gives_back_all_its_places(conn: Conn) -> None:
    account = await make.sender_account(conn, daily_limit=10)
    await make.queued_email(conn, cc=["cy@example.com", "dee@example.com"])
    worker = await make.worker(conn)
    await claim(conn, worker)
    assert (await counted(conn, account)).reserved == 3

    await lose(conn, worker)

    assert (await counted(conn, account)).reserved == 0
    assert await counted(conn, account) == await counted(conn, account)


async def test_mail_given_back_is_claimed_again_at_once(conn: Conn) -> None:
    """The lane was marked empty while the dead worker had claimed its rows."""
    await make.sender_account(conn)
    await make.queued_emails(conn, 2)
    worker = await make.worker(conn)
    await claim(conn, worker)
    await conn.execute("UPDATE mailqueue.lanes SET probed_at = '-infinity'")
    second = await make.worker(conn)
    assert await claim(conn, second) == []

    await lose(conn, worker)

    assert len(await claim(conn, second)) == 2


async def test_an_unknown_outcome_is_resent_once_and_then_held(conn: Conn) -> None:
    account = await make.sender_account(conn)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)
    fates = []
    for _ in range(2):
        taken = await claim(conn, worker)
        await settle(conn, taken, Ending.UNKNOWN, reason="no answer", spent=1, wait=timedelta(0))
        fates.append((await row(conn, email, "status"))[0])

    assert fates == ["pending", "held"]
    assert (await counted(conn, account)).sent == 2
