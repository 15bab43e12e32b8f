"""Window: how many mails are handed over at once, and who gets the room."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from mailqueue.core.config import DatabaseSettings
from mailqueue.db.link import Link
from mailqueue.mail.marker import Marker
from mailqueue.mail.model import Ending, MarkVerdict
from tests import make
from tests.mail.claims import claimed
from tests.queue.acting import claim, lose, opened, outcome

pytestmark = pytest.mark.anyio
NOWHERE = Link.__new__(Link)  # of markers that are asked for slots only


def marker(slots: int) -> Marker:
    return Marker(NOWHERE, worker=1, slots=slots)


async def is_stuck(waiting: asyncio.Task[int]) -> bool:
    for _ in range(5):
        await asyncio.sleep(0)
    return not waiting.done()


async def test_a_lone_account_leaves_a_quarter_of_the_slots_to_others() -> None:
    slots = marker(32)

    assert await slots.take_slots(100, 1) == 24
    assert await is_stuck(asyncio.create_task(slots.take_slots(1, 1)))
    assert await slots.take_slots(4, 2) == 4


async def test_one_slot_is_enough_to_send() -> None:
    slots = marker(1)

    assert await slots.take_slots(16, 1) == 1


async def test_never_more_slots_are_out_than_there_are() -> None:
    slots = marker(8)
    taken = [await slots.take_slots(16, account) for account in (1, 2)]

    assert sum(taken) == 8
    assert await is_stuck(asyncio.create_task(slots.take_slots(1, 3)))


async def test_a_freed_slot_goes_to_who_waits() -> None:
    slots = marker(4)
    assert await slots.take_slots(4, 1) == 3
    waiting = asyncio.create_task(slots.take_slots(2, 1))
    assert await is_stuck(waiting)

    slots.free_slots(2, 1)

    async with asyncio.timeout(5):
        assert await waiting == 2


@asynccontextmanager
async def serving(database: DatabaseSettings, worker: int) -> AsyncIterator[Marker]:
    link = Link(database, "test/mark")
    slots = Marker(link, worker=worker, slots=4)
    running = asyncio.create_task(slots.run())
    try:
        async with asyncio.timeout(20):
            yield slots
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await link.close()


async def test_a_slot_is_held_until_the_outcome_is_written(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        await make.queued_emails(conn, 2)
        worker = await make.worker(conn)
        taken = await claim(conn, worker)
        async with serving(database, worker) as slots:
            account = taken[0].assigned_to
            assert await slots.take_slots(2, account) == 2
            marks = await slots.mark(taken)
            assert {mark.verdict for mark in marks.values()} == {MarkVerdict.GO}
            assert await slots.take_slots(4, account) == 1
            assert await is_stuck(asyncio.create_task(slots.take_slots(1, account)))

            slots.settled([outcome(email, Ending.SENT) for email in taken])

            assert slots._allowed(account) >= 1


async def test_requests_made_together_are_answered_each_with_its_own(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        await make.queued_emails(conn, 4)
        worker = await make.worker(conn)
        taken = await claim(conn, worker)
        async with serving(database, worker) as slots:
            answers = await asyncio.gather(*(slots.mark([email]) for email in taken))

        assert [list(answer) for answer in answers] == [[email.id] for email in taken]
        intents = "SELECT email_ids FROM mailqueue.send_intents WHERE worker_id = %s"
        marked = await make.scalar(conn, intents, worker)
        assert set(marked) <= {email.id for email in taken}


async def test_a_worker_declared_lost_may_hand_nothing_over(database: DatabaseSettings) -> None:
    """Fence."""
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        await make.queued_email(conn)
        worker = await make.worker(conn)
        taken = await claim(conn, worker)
        await lose(conn, worker)
        async with serving(database, worker) as slots:
            marks = await slots.mark(taken)

        assert marks[taken[0].id].verdict is MarkVerdict.LOST


async def test_forgetting_what_holds_no_slot_frees_none() -> None:
    slots = marker(2)
    email = claimed()

    slots.forget(email.id, email.claim_no)

    assert await slots.take_slots(5, 1) == 2
