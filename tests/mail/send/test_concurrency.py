"""Window: how many mails are handed over at once, and how accounts share the slots."""

import asyncio
from collections.abc import Iterable
from uuid import uuid4

import pytest

from mailqueue.mail.send.concurrency import MAX_UNPROVEN_ASIDE, AccountSlots, Mail, Slots

pytestmark = pytest.mark.anyio


def known() -> AccountSlots:
    share = AccountSlots()
    share.is_unproven = False
    return share


def mails(count: int) -> list[Mail]:
    return [(uuid4(), 1) for _ in range(count)]


def owned(some: Iterable[Mail], share: AccountSlots) -> list[tuple[Mail, AccountSlots]]:
    return [(mail, share) for mail in some]


async def is_stuck(waiting: asyncio.Task[int]) -> bool:
    for _ in range(5):
        await asyncio.sleep(0)
    return not waiting.done()


async def test_a_lone_line_leaves_a_quarter_of_the_slots_to_others() -> None:
    slots, one = Slots(32), known()

    assert await slots.take(100, one) == 24
    assert await is_stuck(asyncio.create_task(slots.take(1, one)))
    assert await slots.take(4, known()) == 4


async def test_one_slot_is_enough_to_send() -> None:
    assert await Slots(1).take(16, known()) == 1
    assert await Slots(1).take(16, AccountSlots()) == 1


async def test_never_more_slots_are_out_than_there_are() -> None:
    slots = Slots(8)
    taken = [await slots.take(16, known()) for _ in range(2)]

    assert sum(taken) == 8
    assert await is_stuck(asyncio.create_task(slots.take(1, known())))


async def test_a_freed_slot_goes_to_who_waits() -> None:
    slots, one = Slots(4), known()
    assert await slots.take(4, one) == 3
    waiting = asyncio.create_task(slots.take(2, one))
    assert await is_stuck(waiting)

    slots.release(owned(mails(2), one))

    async with asyncio.timeout(30):
        assert await waiting == 2


async def test_connections_that_wait_together_share_what_is_freed() -> None:
    """One connection with all the mail would be slower than several side by side."""
    slots, one = Slots(32), known()
    assert await slots.take(100, one) == 24
    waiting = [asyncio.create_task(slots.take(16, one)) for _ in range(4)]
    assert all([await is_stuck(each) for each in waiting])

    slots.give_back(24, one)

    async with asyncio.timeout(30):
        assert await asyncio.gather(*waiting) == [6, 6, 6, 6]


async def test_who_stops_waiting_takes_no_share() -> None:
    slots, one = Slots(4), known()
    assert await slots.take(4, one) == 3
    gone, waiting = (asyncio.create_task(slots.take(4, one)) for _ in range(2))
    assert await is_stuck(waiting)
    gone.cancel()
    assert not await is_stuck(gone)

    slots.give_back(3, one)

    async with asyncio.timeout(30):
        assert await waiting == 3


async def test_who_stops_when_it_was_just_served_gives_it_back() -> None:
    slots, one = Slots(4), known()
    assert await slots.take(4, one) == 3
    waiting = asyncio.create_task(slots.take(3, one))
    assert await is_stuck(waiting)

    slots.give_back(3, one)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)

    assert await slots.take(4, one) == 3


async def test_unproven_accounts_share_one_half_until_they_reply() -> None:
    """Any number of servers that never reply leave the other half to those that do."""
    slots = Slots(8)
    unanswered = [AccountSlots() for _ in range(4)]
    for one in unanswered:
        assert await slots.take(1, one) == 1
    waiting = asyncio.create_task(slots.take(1, AccountSlots()))
    assert await is_stuck(waiting)
    assert await slots.take(2, known()) == 2

    slots.mark_responsive(unanswered[0])

    async with asyncio.timeout(30):
        assert await waiting == 1


async def test_proven_accounts_leave_unproven_ones_their_half() -> None:
    slots = Slots(8)
    for _ in range(3):
        (mail,), share = mails(1), AccountSlots()
        assert await slots.take(1, share) == 1
        slots.release(owned([mail], share))
        slots.mark_responsive(share)

    for _ in range(4):
        assert await slots.take(1, AccountSlots()) == 1
    assert await is_stuck(asyncio.create_task(slots.take(1, AccountSlots())))


async def test_a_slot_without_a_marked_mail_proves_nothing_about_an_account() -> None:
    slots, hangs = Slots(64), known()
    under_way = mails(await slots.take(8, hangs))
    slots.set_aside(under_way, hangs)
    slots.mark_unresponsive(hangs)
    for share in (AccountSlots(), hangs):
        for _ in range(MAX_UNPROVEN_ASIDE + 1):
            async with asyncio.timeout(30):
                assert await slots.take(1, share) == 1
            slots.give_back(1, share)


async def test_an_account_that_stops_replying_is_unproven_until_it_replies() -> None:
    slots, silent, under_way = Slots(8), known(), mails(4)
    assert await slots.take(4, silent) == 4
    slots.set_aside(under_way, silent)

    slots.mark_unresponsive(silent)
    assert await slots.take(4, silent) == 1  # to try whether one connection was at fault
    waiting = asyncio.create_task(slots.take(4, silent))
    assert await is_stuck(waiting)

    slots.mark_responsive(silent)

    assert await waiting == 4
    assert await slots.take(8, known()) == 3


@pytest.mark.parametrize(("others", "most"), [(0, MAX_UNPROVEN_ASIDE), (2, 2)])
async def test_an_unproven_account_has_one_active_mail_and_few_that_hang(
    others: int, most: int
) -> None:
    """Fewer if many mails hang already."""
    slots, one = Slots(8), AccountSlots()
    for other in [known() for _ in range(others)]:
        assert await slots.take(8, other) == 6
        slots.set_aside(mails(6), other)

    for mail in mails(most):
        assert await slots.take(16, one) == 1
        waiting = asyncio.create_task(slots.take(16, one))
        assert await is_stuck(waiting)
        waiting.cancel()
        slots.set_aside([mail], one)

    assert await is_stuck(asyncio.create_task(slots.take(1, one)))
    assert (one.held, one.aside) == (0, most)


async def test_mail_set_aside_leaves_its_slot_to_others() -> None:
    slots, silent, under_way = Slots(8), known(), mails(6)
    assert await slots.take(6, silent) == 6
    waiting = asyncio.create_task(slots.take(6, known()))
    assert not await is_stuck(waiting)
    assert await waiting == 2

    slots.set_aside(under_way, silent)

    assert await slots.take(4, known()) == 4


async def test_mail_that_was_set_aside_gives_its_place_back_when_it_ends() -> None:
    slots, silent = Slots(4), known()
    for _ in range(3):
        assert await slots.take(1, silent) == 1
        (mail,) = mails(1)
        slots.set_aside([mail, mail], silent)
        assert len(slots._aside) == 1
        slots.release(owned([mail], silent))

    assert len(slots._aside) == 0
    assert (silent.held, silent.aside) == (0, 0)
    assert await slots.take(4, silent) == 3


async def test_twice_as_many_are_set_aside_as_move_and_one_line_leaves_a_quarter() -> None:
    slots = Slots(16)
    for takes, fits in ((12, 12), (12, 12), (6, 6), (2, 2), (2, 0)):
        silent, under_way = known(), mails(16)
        assert await slots.take(16, silent) == takes
        slots.set_aside(under_way[:takes], silent)
        assert silent.aside == fits

    assert len(slots._aside) == 32


async def test_servers_that_fall_silent_one_after_the_other_never_hold_everything() -> None:
    """A mail that can no longer be set aside keeps its slot, so no account has many of them by
    then.
    """
    slots = Slots(64)
    for _ in range(10):
        silent, under_way = known(), mails(64)
        taken = await slots.take(64, silent)
        slots.set_aside(under_way[:taken], silent)
        slots.mark_unresponsive(silent)

    assert len(slots._aside) == 128
    assert await slots.take(4, known()) == 4
    assert (
        await slots.take(1, AccountSlots()) == 1
    )  # nor do they take the places of accounts without a reply


async def test_what_cannot_be_set_aside_is_known_to_be_silent_until_it_ends() -> None:
    """A commit that waited for it would wait in vain."""
    slots = Slots(2)
    (one, other), (third, fourth) = mails(2), mails(2)
    shares = [known() for _ in range(6)]
    for share, mail in zip(shares, (one, other, third, fourth), strict=False):
        assert await slots.take(1, share) == 1
        slots.set_aside([mail], share)
    (stuck,) = mails(1)
    assert await slots.take(1, shares[4]) == 1

    slots.set_aside([stuck], shares[4])

    assert (len(slots._aside), slots.stalled_count) == (4, 5)
    slots.release(owned([stuck], shares[4]))
    assert slots.stalled_count == 4
    assert await slots.take(2, shares[5]) == 1
