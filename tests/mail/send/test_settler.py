"""Window: mail is marked before it is handed over, and holds its slot until it is settled."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.model import ClaimedEmail, Ending, LogStatus, MarkVerdict
from mailqueue.mail.send.concurrency import Slots
from mailqueue.mail.send.settler import EmailSettler
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, lose, opened, outcome
from tests.mail.claims import claimed
from tests.mail.send.test_concurrency import is_stuck, known

pytestmark = pytest.mark.anyio
NOWHERE = Link.__new__(Link)  # of scribes that never write
INTENTS = "SELECT email_ids FROM mailqueue.send_intents WHERE worker_id = %s"


class Gated(Link):
    """A link whose operations wait at a gate and are counted."""

    def __init__(self, database: DatabaseSettings) -> None:
        super().__init__(database, "test/write")
        self.gate = asyncio.Event()
        self.gate.set()
        self.calls = 0
        self.written: list[int] = []  # outcomes of each commit

    async def call(self, operation: Any) -> Any:
        self.calls += 1
        await self.gate.wait()
        done = await super().call(operation)
        self.written.append(len(operation.keywords["settled"]))
        return done


class Desk:
    """A running settler, and the outcomes it reported as written."""

    def __init__(self, link: Gated, worker: int, *, slots: int, most: int) -> None:
        self.link = link
        self.written = link.written
        self.slots = Slots(slots)
        self.share = known()
        self.settler = EmailSettler(
            link,
            self.slots,
            worker=worker,
            batch=most,
            wake=lambda: None,
        )

    async def hand_over(self, emails: list[ClaimedEmail]) -> None:
        """Take slots for mails and mark them."""
        assert await self.slots.take(len(emails), self.share) == len(emails)
        marks = await self.settler.mark(emails, self.share)
        assert {marks.of(one.id).verdict for one in emails} == {MarkVerdict.GO}

    def settle(self, *emails: ClaimedEmail) -> None:
        for email in emails:
            self.settler.settle(outcome(email, Ending.SENT, log=LogStatus.SENT))


@asynccontextmanager
async def writing(
    database: DatabaseSettings, worker: int, *, slots: int = 8, most: int = 200
) -> AsyncIterator[Desk]:
    link = Gated(database)
    desk = Desk(link, worker, slots=slots, most=most)
    running = asyncio.create_task(desk.settler.run())
    try:
        async with asyncio.timeout(60):
            yield desk
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await link.close()


@asynccontextmanager
async def claimed_mail(
    database: DatabaseSettings, count: int
) -> AsyncIterator[tuple[Conn, int, list[ClaimedEmail]]]:
    async with opened(database, 1) as (conn,):
        await make.sender_account(conn)
        await make.queued_emails(conn, count)
        worker = await make.worker(conn)
        yield conn, worker, await claim(conn, worker)


async def test_a_slot_is_held_until_the_outcome_is_written(database: DatabaseSettings) -> None:
    async with (
        claimed_mail(database, 3) as (_, worker, mails),
        writing(database, worker, slots=4) as desk,
    ):
        await desk.hand_over(mails)  # all that one account may have
        waiting = asyncio.create_task(desk.slots.take(1, desk.share))
        assert await is_stuck(waiting)

        desk.settle(*mails)
        await desk.settler.is_idle.wait()

        assert await waiting == 1


async def test_a_commit_that_empties_slots_fills_them_again(database: DatabaseSettings) -> None:
    async with claimed_mail(database, 6) as (conn, worker, mails):
        first, second = mails[:3], mails[3:]
        async with writing(database, worker, slots=4) as desk:
            await desk.hand_over(first)
            handing = asyncio.create_task(desk.hand_over(second))
            await asyncio.sleep(0)
            before = desk.link.calls

            desk.settle(*first)
            await handing

            assert desk.link.calls == before + 1
            assert await make.scalar(conn, INTENTS, worker) == [one.id for one in second]
            assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_history") == 3


async def test_marked_mail_stays_marked_until_it_is_settled(database: DatabaseSettings) -> None:
    """Window: mail whose mark was overwritten too early would be sent again after a crash."""
    async with claimed_mail(database, 3) as (conn, worker, mails):
        async with writing(database, worker) as desk:
            for one in mails:
                await desk.hand_over([one])

        assert set(await make.scalar(conn, INTENTS, worker)) == {one.id for one in mails}


async def test_mail_is_not_handed_over_before_its_mark_is_durable(
    database: DatabaseSettings,
) -> None:
    async with (
        claimed_mail(database, 1) as (_, worker, mails),
        writing(database, worker) as desk,
    ):
        desk.link.gate.clear()
        handing = desk.settler.mark(mails, desk.share)
        for _ in range(20):
            await asyncio.sleep(0)
        assert not handing.done()
        desk.link.gate.set()

        assert (await handing).of(mails[0].id).verdict is MarkVerdict.GO


async def test_what_comes_while_a_group_is_written_goes_together(
    database: DatabaseSettings,
) -> None:
    async with claimed_mail(database, 4) as (_, worker, mails):
        async with writing(database, worker) as desk:
            desk.link.gate.clear()
            desk.settle(mails[0])
            for _ in range(5):
                await asyncio.sleep(0)
            desk.settle(*mails[1:])
            desk.link.gate.set()
            await desk.settler.is_idle.wait()

        assert desk.written == [1, 3]


async def test_an_outcome_waits_only_shortly_for_others_on_the_wire(
    database: DatabaseSettings,
) -> None:
    async with claimed_mail(database, 2) as (_, worker, mails):
        async with writing(database, worker) as desk:
            await desk.hand_over(mails)
            desk.written.clear()

            desk.settle(mails[0])
            await desk.settler.is_idle.wait()

        assert desk.written == [1]


async def test_who_waits_for_slots_hurries_what_would_free_them(
    database: DatabaseSettings,
) -> None:
    async with (
        claimed_mail(database, 3) as (_, worker, mails),
        writing(database, worker, slots=4) as desk,
    ):
        await desk.hand_over(mails)
        desk.settler._linger = 0.0  # as after a quick commit
        desk.settle(mails[0])
        in_no_hurry = desk.settler._due_at

        waiting = asyncio.create_task(desk.slots.take(1, desk.share))
        await is_stuck(waiting)

        assert desk.settler._due_at < in_no_hurry
        assert await waiting == 1


async def test_groups_are_bounded_and_nothing_is_left(database: DatabaseSettings) -> None:
    async with claimed_mail(database, 8) as (_, worker, mails):
        async with writing(database, worker, most=3) as desk:
            desk.settle(*mails)
            assert len(desk.settler.outcomes) == 8
            await desk.settler.is_idle.wait()

        assert desk.written == [3, 3, 2]
        assert len(desk.settler.outcomes) == 0


async def test_drained_waits_for_the_write_not_for_the_handing_in(
    database: DatabaseSettings,
) -> None:
    async with claimed_mail(database, 1) as (_, worker, mails):
        async with writing(database, worker) as desk:
            desk.link.gate.clear()
            desk.settle(*mails)
            draining = asyncio.create_task(desk.settler.is_idle.wait())
            for _ in range(5):
                await asyncio.sleep(0)
            assert not draining.done()
            desk.link.gate.set()
            await draining

        assert desk.written == [1]


async def test_requests_made_together_are_answered_by_one_commit(
    database: DatabaseSettings,
) -> None:
    async with (
        claimed_mail(database, 4) as (_, worker, mails),
        writing(database, worker) as desk,
    ):
        answers = await asyncio.gather(*(desk.settler.mark([email], desk.share) for email in mails))

        assert desk.link.calls == 1
    assert {marks.of(one.id).verdict for marks in answers for one in mails} == {MarkVerdict.GO}


async def test_a_worker_declared_lost_may_hand_nothing_over(database: DatabaseSettings) -> None:
    """Fence."""
    async with claimed_mail(database, 1) as (conn, worker, mails):
        await lose(conn, worker)
        async with writing(database, worker) as desk:
            marks = await desk.settler.mark(mails, desk.share)

    assert marks.of(mails[0].id).verdict is MarkVerdict.LOST


async def test_forgetting_what_holds_no_slot_frees_none() -> None:
    slots = Slots(2)
    settler = EmailSettler(NOWHERE, slots, worker=1, batch=200, wake=lambda: None)
    email = claimed()

    settler.forget(email.id, email.claim_no)

    assert await slots.take(5, known()) == 2


async def test_a_lost_mail_frees_its_slot(database: DatabaseSettings) -> None:
    async with claimed_mail(database, 1) as (conn, worker, mails):
        await lose(conn, worker)
        async with writing(database, worker, slots=1) as desk:
            assert await desk.slots.take(1, desk.share) == 1
            await desk.settler.mark(mails, desk.share)

            desk.settler.forget(mails[0].id, mails[0].claim_no)

            assert await desk.slots.take(1, desk.share) == 1
