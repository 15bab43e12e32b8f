"""Window: how many mails are handed over at once, and who gets the room."""

import asyncio

import pytest

from mailqueue.mail.slots import Slots

pytestmark = pytest.mark.anyio


async def is_stuck(waiting: asyncio.Task[int]) -> bool:
    for _ in range(5):
        await asyncio.sleep(0)
    return not waiting.done()


async def test_a_lone_account_leaves_a_quarter_of_the_slots_to_others() -> None:
    slots = Slots(32)

    assert await slots.take(100, 1) == 24
    assert await is_stuck(asyncio.create_task(slots.take(1, 1)))
    assert await slots.take(4, 2) == 4


async def test_one_slot_is_enough_to_send() -> None:
    assert await Slots(1).take(16, 1) == 1


async def test_never_more_slots_are_out_than_there_are() -> None:
    slots = Slots(8)
    taken = [await slots.take(16, account) for account in (1, 2)]

    assert sum(taken) == 8
    assert await is_stuck(asyncio.create_task(slots.take(1, 3)))


async def test_a_freed_slot_goes_to_who_waits() -> None:
    slots = Slots(4)
    assert await slots.take(4, 1) == 3
    waiting = asyncio.create_task(slots.take(2, 1))
    assert await is_stuck(waiting)

    slots.give_back(2, 1)

    async with asyncio.timeout(5):
        assert await waiting == 2


async def test_connections_that_wait_together_share_what_is_freed() -> None:
    """One connection with all the mail would be slower than several side by side."""
    slots = Slots(32)
    assert await slots.take(100, 1) == 24
    waiting = [asyncio.create_task(slots.take(16, 1)) for _ in range(4)]
    assert all([await is_stuck(each) for each in waiting])

    slots.give_back(24, 1)

    async with asyncio.timeout(5):
        assert await asyncio.gather(*waiting) == [6, 6, 6, 6]


async def test_who_stops_waiting_takes_no_share() -> None:
    slots = Slots(4)
    assert await slots.take(4, 1) == 3
    gone, waiting = (asyncio.create_task(slots.take(4, 1)) for _ in range(2))
    assert await is_stuck(waiting)
    gone.cancel()
    assert not await is_stuck(gone)

    slots.give_back(3, 1)

    async with asyncio.timeout(5):
        assert await waiting == 3


async def test_strangers_share_one_half_until_they_answer() -> None:
    """Any number of servers that never answer leave the other half to those that do."""
    slots = Slots(8)
    for stranger in (1, 2, 3, 4):
        assert await slots.take(1, stranger, is_stranger=True) == 1
    waiting = asyncio.create_task(slots.take(1, 5, is_stranger=True))
    assert await is_stuck(waiting)
    assert await slots.take(2, 6) == 2

    slots.greet(1)

    async with asyncio.timeout(5):
        assert await waiting == 1


async def test_strangers_have_room_until_they_hold_half_of_their_half() -> None:
    slots = Slots(8)
    assert await slots.take(1, 1, is_stranger=True) == 1
    assert slots.has_room_for_strangers()

    assert await slots.take(1, 2, is_stranger=True) == 1

    assert not slots.has_room_for_strangers()
