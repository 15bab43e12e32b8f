"""A server without a reply for a moment: its pending mail does not delay that of others."""

from functools import partial

import pytest

from mailqueue.mail.model import Ending
from mailqueue.mail.send.account_sender import AccountSender
from mailqueue.mail.send.concurrency import MAX_UNPROVEN_ASIDE, AccountSlots, Slots
from tests.mail.claims import loaded
from tests.mail.send.scripted import (
    RecordedContext,
    ScriptedServer,
    all_is_done,
    introduce,
    sender_to,
    until,
)

pytestmark = pytest.mark.anyio
SEVERAL = 4
"""Mails of a group that a proven server always gets, however slow the machine is."""
MAX_MAILS = 1_600


async def goes_silent(
    line: AccountSender, recorded: RecordedContext, server: ScriptedServer, *, mails: int
) -> int:
    """Let a proven server leave that many mails without a reply; return how many it received."""
    await introduce(line, recorded)
    server.gate.clear()
    line.add([loaded() for _ in range(mails)])
    await until(lambda: line.slots.held > 0)
    await all_is_done()
    held = line.slots.held
    recorded.clock.move(recorded.unresponsive_s + 0.01)
    line.check_stalls()
    return held


async def test_a_moment_of_silence_frees_the_places_of_what_is_under_way() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    async with sender_to(server, recorded) as line:
        held = await goes_silent(line, recorded, server, mails=2)

        assert held == 2
        assert len(recorded.slots._aside) == 2
        assert line.slots.held == 0


@pytest.mark.deep
@pytest.mark.parametrize("idle_s", [20.0, 0.05])  # the others wait for mail, or have gone
async def test_a_connection_that_hangs_keeps_no_mail_from_others(idle_s: float) -> None:
    """However many mails wait on it, and however long ago it replied."""
    recorded = RecordedContext(slots=Slots(64), idle_s=idle_s)
    server = ScriptedServer(hangs_from=SEVERAL)
    async with sender_to(server, recorded, max_connections=10) as line:

        def is_settled(expected: int) -> bool:
            return len(recorded.settled) == expected

        def is_over(expected: int) -> bool:
            return bool(server.hung) or is_settled(expected)

        count = 0
        while not server.hung and count < MAX_MAILS:  # groups of a connection grow with its mail
            count += 32
            line.add([loaded() for _ in range(32)])
            await until(partial(is_over, count))
        assert server.hung >= SEVERAL
        rest = count - server.hung

        for turn in range(6):
            recorded.clock.move(recorded.unresponsive_s + 0.01)
            line.check_stalls()
            await until(partial(is_settled, rest + turn))
            if idle_s < 1:
                await until(lambda: len(line._connections) == 1)  # the others have gone
            line.add([loaded()])
        await until(partial(is_settled, rest + 6))

        assert line.slots.aside == server.hung
        assert set(recorded.endings()) == {Ending.SENT}
        assert recorded.failures == ["answered"]


async def test_a_brief_silence_limits_slots_and_keeps_the_queue() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    async with sender_to(server, recorded) as line:
        await goes_silent(line, recorded, server, mails=60)
        for _ in range(9):
            await all_is_done()
            line.check_stalls()

        assert line.is_stalled
        assert len(line.waiting) > 0
        assert Ending.DEFER not in recorded.endings()
        assert await recorded.slots.take(MAX_UNPROVEN_ASIDE, AccountSlots()) > 0
        assert recorded.failures == ["answered"]


async def test_an_answer_after_a_moment_ends_the_doubt_and_is_no_news() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    async with sender_to(server, recorded) as line:
        await goes_silent(line, recorded, server, mails=60)

        server.gate.set()
        await until(lambda: not line.waiting)

        assert not line.is_stalled
        assert not line.slots.is_unproven
        assert recorded.failures == ["answered"]


async def test_mail_for_a_server_that_hung_before_goes_back_though_more_is_wanted() -> None:
    """It has as much mail in progress as it may have; more must not stay."""
    recorded, server = RecordedContext(), ScriptedServer(hangs=9)
    async with sender_to(server, recorded, max_connections=10) as line:
        for _ in range(MAX_UNPROVEN_ASIDE + 3):
            line.add([loaded()])
            for _ in range(6):
                await all_is_done()
                recorded.clock.move(recorded.unproven_stall_s / 2)
                line.check_stalls()

        await all_is_done()
        assert len(server.groups) <= MAX_UNPROVEN_ASIDE
        assert len(line.waiting) == 0
        assert recorded.endings() == [Ending.DEFER] * (MAX_UNPROVEN_ASIDE + 3 - len(server.groups))
