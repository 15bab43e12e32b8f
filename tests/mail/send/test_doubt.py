"""A server that says nothing for a moment: what it has under way keeps no other's mail waiting."""

import asyncio

import pytest

from mailqueue.mail.model import Ending
from mailqueue.mail.send.account_sender import AccountSender
from mailqueue.mail.send.concurrency import MAX_UNPROVEN_ASIDE, AccountSlots, Slots
from tests.mail.claims import loaded
from tests.mail.send.office import Office, Server, all_is_done, introduce, line_to, until

pytestmark = pytest.mark.anyio


async def goes_silent(line: AccountSender, office: Office, server: Server, *, mails: int) -> int:
    """Have a server that is known say nothing of so many mails; return how many it was handed."""
    await introduce(line, office)
    server.gate.clear()
    line.add([loaded() for _ in range(mails)])
    await until(lambda: line._slots.held > 0)
    await all_is_done()
    held = line._slots.held
    office.clock.move(office.unresponsive_s + 0.01)
    line.check_stalls()
    return held


async def test_a_moment_of_silence_frees_the_places_of_what_is_under_way() -> None:
    office, server = Office(), Server()
    async with line_to(server, office) as line:
        held = await goes_silent(line, office, server, mails=2)

        assert held == 2
        assert len(office.slots._aside) == 2
        assert line._slots.held == 0


@pytest.mark.parametrize("idle_s", [20.0, 0.05])  # the others wait for mail, or have gone
async def test_a_connection_that_hangs_keeps_no_mail_from_others(idle_s: float) -> None:
    """However much is on it, and however long ago the server said something."""
    office, server = Office(slots=Slots(64), idle_s=idle_s), Server()
    async with line_to(server, office, most=10) as line:
        line.add([loaded() for _ in range(15)])
        await until(lambda: len(office.settled) == 15)
        server.hangs = len(server.groups) + 1
        line.add([loaded() for _ in range(8)])
        await until(lambda: server.groups[-1] == 8)
        for _ in range(5):
            sent = len(office.settled)
            await asyncio.sleep(2 * min(idle_s, 0.05))
            office.clock.move(office.unresponsive_s + 0.01)
            line.check_stalls()
            line.add([loaded()])
            await until(lambda sent=sent: len(office.settled) > sent)

        assert line._slots.aside == 8
        assert set(office.endings()) == {Ending.SENT}
        assert office.troubles == ["answered"]


async def test_who_is_silent_for_a_moment_is_given_few_more_places_and_keeps_what_waits() -> None:
    office, server = Office(), Server()
    async with line_to(server, office) as line:
        await goes_silent(line, office, server, mails=60)
        for _ in range(9):
            await all_is_done()
            line.check_stalls()

        assert line.is_stalled
        assert len(line) > 0
        assert Ending.DEFER not in office.endings()
        assert await office.slots.take(MAX_UNPROVEN_ASIDE, AccountSlots()) > 0
        assert office.troubles == ["answered"]


async def test_an_answer_after_a_moment_ends_the_doubt_and_is_no_news() -> None:
    office, server = Office(), Server()
    async with line_to(server, office) as line:
        await goes_silent(line, office, server, mails=60)

        server.gate.set()
        await until(lambda: not line)

        assert not line.is_stalled
        assert not line._slots.is_unproven
        assert office.troubles == ["answered"]


async def test_mail_for_a_server_that_hung_before_goes_back_though_more_is_wanted() -> None:
    """It has all the mail under way that it may have; what comes to try it must not stay."""
    office, server = Office(), Server(hangs=9)
    async with line_to(server, office, most=10) as line:
        for _ in range(MAX_UNPROVEN_ASIDE + 3):
            line.add([loaded()])
            for _ in range(6):
                await all_is_done()
                office.clock.move(office.unproven_stall_s / 2)
                line.check_stalls()

        await all_is_done()
        assert len(server.groups) <= MAX_UNPROVEN_ASIDE
        assert len(line) == 0
        assert office.endings() == [Ending.DEFER] * (MAX_UNPROVEN_ASIDE + 3 - len(server.groups))
