"""Fence: what a worker writes after it lost its claim changes nothing, except proof of sending."""

import asyncio
from typing import Any

import pytest
from psycopg import OperationalError

from mailqueue.core.errors import LeaseLost
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import ClaimedEmail, Ending, LogStatus, MarkVerdict
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.mail.send.store.outcomes import settle_and_mark
from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import (
    LEASE,
    NO_WORKER,
    SILENCE,
    beat,
    claim,
    counted,
    difference,
    lose,
    mark,
    opened,
    outcome,
    row,
    sent,
    settle,
    until_waiting,
)

pytestmark = pytest.mark.anyio
LATE: Any = {"ending": Ending.FAILED, "reason": "late", "log": LogStatus.BOUNCED, "hard": True}


async def one_claimed(conn: Conn, **columns: object) -> tuple[int, ClaimedEmail]:
    await make.sender_account(conn)
    await make.queued_email(conn, **columns)
    worker = await make.worker(conn)
    (email,) = await claim(conn, worker)
    return worker, email


@pytest.mark.parametrize("ending", [each for each in Ending if each is not Ending.SENT])
async def test_a_late_worker_cannot_finish_a_row_it_lost(conn: Conn, ending: Ending) -> None:
    late, email = await one_claimed(conn)
    await lose(conn, late)
    second = await make.worker(conn)
    (again,) = await claim(conn, second)

    moved_on = await settle(conn, [email], ending, reason="late", log=LogStatus.FAILED)

    assert moved_on == [email.id]
    assert await row(conn, email.id, "status, claim_no, worker_id, last_error") == (
        "assigned", again.claim_no, second, None
    )  # fmt: skip
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.send_logs") == 0


async def test_an_unmarked_mail_cannot_be_reported_sent_by_the_worker_that_lost_it(
    conn: Conn,
) -> None:
    late, email = await one_claimed(conn)
    await lose(conn, late)

    assert await sent(conn, [email]) == [email.id]
    assert await make.status_of(conn, email.id) == "pending"


async def test_claim_numbers_are_never_used_twice(conn: Conn) -> None:
    """Attempt numbers decrease when mail is returned; claim numbers must not."""
    worker, first = await one_claimed(conn)
    await settle(conn, [first], Ending.DEFER)
    (second,) = await claim(conn, worker)

    assert second.attempts == first.attempts == 1
    assert second.claim_no > first.claim_no
    assert await sent(conn, [first]) == [first.id]
    assert await sent(conn, [second]) == []


async def test_a_mark_after_the_rescue_gives_nothing(conn: Conn) -> None:
    late, email = await one_claimed(conn)
    await lose(conn, late)

    assert await mark(conn, late, [email]) == {}
    assert await beat(conn, late) is False


async def test_a_mark_of_a_claim_that_moved_on_says_lost(conn: Conn) -> None:
    worker, email = await one_claimed(conn)
    await settle(conn, [email], Ending.DEFER)

    assert (await mark(conn, worker, [email]))[email.id].verdict is MarkVerdict.LOST


async def test_a_worker_declared_lost_is_told_so_when_it_claims(conn: Conn) -> None:
    late, _ = await one_claimed(conn)
    await lose(conn, late)

    with pytest.raises(LeaseLost):
        async with conn.transaction():
            await claims_store.claim(conn, late, limit=1, lease=LEASE)


async def test_a_rescue_waits_for_a_mark_being_written_and_honours_it(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (worker_conn, rescuer, observer):
        late, email = await one_claimed(worker_conn, delivery="hold")
        await make.silent(observer, late)

        async with worker_conn.transaction():
            marks = await mark(worker_conn, late, [email])
            rescuing = asyncio.create_task(kernel.rescue(rescuer, silence=SILENCE))
            await until_waiting(observer, rescuer)
        assert marks[email.id].verdict is MarkVerdict.GO

        assert await rescuing == 1
        assert await row(observer, email.id, "status, attempts") == ("held", 1)


async def test_a_mark_waits_for_a_rescue_being_written_and_gets_nothing(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (worker_conn, rescuer, observer):
        late, email = await one_claimed(worker_conn)
        await make.silent(observer, late)

        async with rescuer.transaction():
            assert await kernel.rescue(rescuer, silence=SILENCE) == 1
            marking = asyncio.create_task(mark(worker_conn, late, [email]))
            await until_waiting(observer, worker_conn)

        assert await marking == {}
        assert await row(observer, email.id, "status, attempts") == ("pending", 0)


async def test_a_mark_waits_for_another_of_its_worker_and_takes_its_place(
    database: DatabaseSettings,
) -> None:
    """The connection broke, and the server has not noticed: the worker is not lost."""
    async with opened(database, 3) as (broken, conn, watching):
        worker, email = await one_claimed(conn)
        async with broken.transaction():
            await mark(broken, worker, [email])
            again = asyncio.create_task(mark(conn, worker, [email]))
            await until_waiting(watching, conn)
        marks = await again

        assert marks[email.id].verdict is MarkVerdict.GO
        named = await make.rows(watching, "SELECT rev, email_ids FROM mailqueue.send_intents")
        assert named == [(2, [email.id])]


async def test_a_mark_waits_for_one_that_is_taken_back(database: DatabaseSettings) -> None:
    async with opened(database, 3) as (broken, conn, watching):
        worker, email = await one_claimed(conn)
        async with broken.transaction(force_rollback=True):
            await mark(broken, worker, [email])
            again = asyncio.create_task(mark(conn, worker, [email]))
            await until_waiting(watching, conn)
        marks = await again

        assert marks[email.id].verdict is MarkVerdict.GO
        named = await make.rows(watching, "SELECT rev, email_ids FROM mailqueue.send_intents")
        assert named == [(1, [email.id])]


async def test_a_claim_being_made_is_not_stranded_by_its_workers_end(
    database: DatabaseSettings,
) -> None:
    """Accept: otherwise no process would return rows claimed for a worker that has ended."""
    async with opened(database, 3) as (claiming, stopping, observer):
        await make.sender_account(observer)
        await make.queued_emails(observer, 3)
        worker = await make.worker(observer)
        await claims_store.gather_lanes(observer)

        async with claiming.transaction():
            taken = await claims_store.claim(claiming, worker, limit=10, lease=LEASE)
            assert len(taken) == 3
            leaving = asyncio.create_task(kernel.stop_worker(stopping, worker))
            await until_waiting(observer, stopping)
        await leaving

        statuses = await make.rows(observer, "SELECT DISTINCT status FROM mailqueue.email_queue")
        assert statuses == [("pending",)]
        with pytest.raises((LeaseLost, OperationalError)):
            await claims_store.claim(claiming, worker, limit=10, lease=LEASE)


async def test_proof_of_sending_finishes_a_marked_mail_given_back(conn: Conn) -> None:
    """The worker was only slow: what it sent must not be sent again."""
    account = await make.sender_account(conn)
    email = await make.queued_email(conn)
    late = await make.worker(conn)
    taken = await claim(conn, late)
    await mark(conn, late, taken)
    await lose(conn, late)

    assert await sent(conn, taken) == []

    assert await make.status_of(conn, email) == "sent"
    assert (await counted(conn, account)).sent == 1  # once, when it was lost
    assert await difference(conn) == 0


async def test_proof_of_sending_finishes_a_held_mail(conn: Conn) -> None:
    late, email = await one_claimed(conn, delivery="hold")
    await mark(conn, late, [email])
    await lose(conn, late)
    assert await make.status_of(conn, email.id) == "held"

    assert await sent(conn, [email]) == []
    assert await make.status_of(conn, email.id) == "sent"


async def test_proof_of_sending_is_taken_after_another_worker_gave_the_mail_back(
    conn: Conn,
) -> None:
    late, email = await one_claimed(conn)
    await mark(conn, late, [email])
    await lose(conn, late)
    second = await make.worker(conn)
    assert len(await claim(conn, second)) == 1
    await lose(conn, second)  # without having marked it

    assert await sent(conn, [email]) == []
    assert await make.status_of(conn, email.id) == "sent"


async def test_only_sending_is_proof(conn: Conn) -> None:
    late, email = await one_claimed(conn, delivery="hold")
    await mark(conn, late, [email])
    await lose(conn, late)

    assert await settle(conn, [email], Ending.FAILED, reason="no") == [email.id]
    assert await make.status_of(conn, email.id) == "held"


@pytest.mark.parametrize("ending", [each for each in Ending if each is not Ending.SENT])
async def test_a_late_outcome_beside_that_of_the_claim_that_holds_changes_nothing(
    conn: Conn, ending: Ending
) -> None:
    """A process may write both in one group: what it kept, and what it sent since."""
    late, email = await one_claimed(conn)
    others = await make.queued_emails(conn, 3)
    await claim(conn, await make.worker(conn))
    await lose(conn, late)
    (again,) = await claim(conn, await make.worker(conn))

    said = [outcome(email, **LATE), outcome(again, ending, reason="r", log=LogStatus.DEFERRED)]
    written = await settle_and_mark(conn, NO_WORKER, settled=said)

    logs = await make.rows(conn, "SELECT email_id, status FROM mailqueue.send_logs")
    assert logs == [(email.id, "deferred")]
    assert (await counted(conn)).reserved == len(others)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppressions") == 0
    assert written.moved_on == [email.id]


async def test_a_late_outcome_beside_proof_that_the_mail_was_sent_changes_nothing(
    conn: Conn,
) -> None:
    late, email = await one_claimed(conn)
    await lose(conn, late)
    marked = await make.worker(conn)
    (again,) = await claim(conn, marked)
    await mark(conn, marked, [again])
    await lose(conn, marked)

    said = [outcome(email, **LATE), outcome(again, Ending.SENT, log=LogStatus.SENT)]
    written = await settle_and_mark(conn, NO_WORKER, settled=said)

    assert await make.status_of(conn, email.id) == "sent"
    assert await make.rows(conn, "SELECT status FROM mailqueue.send_logs") == [("sent",)]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppressions") == 0
    assert written.moved_on == [email.id]


async def test_of_two_claims_that_report_a_mail_sent_the_late_one_is_named(conn: Conn) -> None:
    late, email = await one_claimed(conn)
    await lose(conn, late)
    (again,) = await claim(conn, await make.worker(conn))

    assert await sent(conn, [email, again]) == [email.id]

    assert await make.status_of(conn, email.id) == "sent"
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.send_logs") == 1
