"""One account's line: connections are opened for mail, and no mail is left without one."""

import asyncio

import pytest

from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.mail.model import Ending, LoadedEmail, MarkVerdict
from mailqueue.mail.send.concurrency import MAX_UNPROVEN_ASIDE, AccountSlots, Slots
from tests.mail.claims import claimed, loaded
from tests.mail.send.office import AWAY, Office, Server, all_is_done, introduce, line_to, until

pytestmark = pytest.mark.anyio


async def test_mail_is_sent_and_its_outcome_given() -> None:
    office, server = Office(), Server()
    async with line_to(server, office) as line:
        line.add([loaded() for _ in range(3)])
        await until(lambda: len(office.settled) == 3)

    assert office.endings() == [Ending.SENT] * 3
    assert server.opened == 1


async def test_a_refusal_that_is_about_us_is_told_of_the_account() -> None:
    listed = Rejected(Fault.INFRASTRUCTURE, "554", "listed", Stage.RCPT)
    office, server = Office(), Server(verdict=listed)
    async with line_to(server, office) as line:
        line.add([loaded()])
        await until(lambda: len(office.settled) == 1)

    assert office.blamed == [(Fault.INFRASTRUCTURE, "ann@example.org")]


async def test_more_mail_is_worth_more_connections_up_to_a_bound() -> None:
    office, server = Office(), Server()
    async with line_to(server, office, most=2) as line:
        await introduce(line, office)
        server.gate.clear()
        line.add([loaded() for _ in range(200)])
        await until(lambda: server.opened == 2)
        await all_is_done()
        assert server.opened == 2


async def test_a_server_that_never_answered_gets_one_connection_and_one_mail() -> None:
    office, server = Office(slots=Slots(32)), Server()
    server.gate.clear()
    async with line_to(server, office) as line:
        line.add([loaded() for _ in range(200)])
        await until(lambda: server.opened == 1)
        await all_is_done()
        assert server.opened == 1

        server.gate.set()

        await until(lambda: server.opened == 4)
        assert server.groups[0] == 1


async def test_mail_that_comes_while_the_last_connection_says_goodbye_gets_another() -> None:
    office, server = Office(idle_s=0.01), Server()
    server.goodbye.clear()
    async with line_to(server, office) as line:
        line.add([loaded()])
        await until(lambda: len(office.settled) == 1)
        await until(lambda: line._serving == 0)  # it is closing now

        line.add([loaded()])

        await until(lambda: len(office.settled) == 2)


async def test_when_all_connections_are_refused_at_once_the_mail_goes_back() -> None:
    office, server = Office(), Server(opens=[None, *[AWAY] * 4])
    async with line_to(server, office) as line:
        await introduce(line, office)
        server.is_usable = False
        server.gate.clear()
        line.add([loaded() for _ in range(150)])
        await until(lambda: server.opened == 5)

        server.gate.set()

        await until(lambda: len(office.settled) == 151)
    assert set(office.endings()[1:]) == {Ending.DEFER}
    assert office.troubles == ["answered", "connection refused"]


async def test_one_refused_connection_among_others_troubles_nobody() -> None:
    office, server = Office(), Server(opens=[None, AWAY])
    async with line_to(server, office) as line:
        line.add([loaded() for _ in range(8 + 32)])
        await until(lambda: len(office.settled) >= 6)

    assert "connection refused" not in office.troubles


async def test_mail_for_a_silent_server_goes_back_and_an_answer_ends_the_rest() -> None:
    office, server = Office(), Server()
    async with line_to(server, office, most=1) as line:
        line.add([loaded()])
        await until(lambda: len(office.settled) == 1)
        server.gate.clear()
        line.add([loaded() for _ in range(10)])
        await until(lambda: len(line._replies) > 0)
        line.check_stalls()
        assert len(line) > 0  # not silent for long enough

        waiting = len(line)
        office.clock.move(office.stall_s + 1)
        line.check_stalls()

        assert len(line) == 0
        assert office.endings().count(Ending.DEFER) == waiting > 0
        assert "has not answered" in office.troubles[-1]
        assert line._slots.is_unproven
        server.gate.set()
        await until(lambda: office.troubles[-1] == "answered")
        assert not line._slots.is_unproven


@pytest.mark.parametrize(
    ("verdict", "ending"),
    [
        (MarkVerdict.CANCELLED, Ending.CANCELLED),
        (MarkVerdict.EXPIRED, Ending.EXPIRED),
        (MarkVerdict.SUPPRESSED, Ending.SUPPRESSED),
        (MarkVerdict.PAUSED, Ending.DEFER),
        (MarkVerdict.LOST, None),
    ],
)
async def test_what_may_not_go_is_settled_without_being_sent(
    verdict: MarkVerdict, ending: Ending | None
) -> None:
    office, server = Office(), Server()
    stopped, fine = loaded(), loaded()
    office.book.verdicts[stopped.claim.id] = verdict
    async with line_to(server, office) as line:
        line.add([stopped, fine])
        await until(lambda: any(one.id == fine.claim.id for one in office.settled))

    found = {one.id: (one.ending, one.log) for one in office.settled}
    assert found.get(stopped.claim.id) == (None if ending is None else (ending, None))
    assert found[fine.claim.id][0] is Ending.SENT


@pytest.mark.parametrize(
    "bad",
    [
        loaded(email=claimed(recipient_email="nobody@")),
        loaded(headers={"X-Number": 7}),
    ],
    ids=["address", "header"],
)
async def test_one_bad_row_stops_nobody(bad: LoadedEmail) -> None:
    office, server = Office(), Server()
    async with line_to(server, office) as line:
        line.add([bad, loaded()])
        await until(lambda: len(office.settled) == 2)

    assert sorted(office.endings()) == [Ending.FAILED, Ending.SENT]


async def test_closing_gives_back_what_waits_and_finishes_what_is_in_flight() -> None:
    office, server = Office(), Server()
    async with line_to(server, office, most=1) as line:
        server.gate.clear()
        line.add([loaded()])
        await until(lambda: server.opened == 1)
        server.gate.set()
        await until(lambda: len(office.settled) == 1)
        server.gate.clear()
        line.add([loaded() for _ in range(20)])
        await until(lambda: len(line) < 20)

        closing = asyncio.create_task(line.close())
        await until(lambda: Ending.DEFER in office.endings())
        assert not closing.done()
        server.gate.set()
        await closing

    assert set(office.endings()) == {Ending.SENT, Ending.DEFER}
    assert len(office.settled) == 21


async def test_abandoning_ends_in_time_without_an_error() -> None:
    office, server = Office(), Server()
    server.gate.clear()
    async with line_to(server, office) as line:
        line.add([loaded() for _ in range(5)])
        await until(lambda: server.opened == 1)

        await line.abandon(within=0.01)
        await line.close()

        assert line.is_idle
    assert office.settled == []


async def test_an_answer_on_its_way_is_heard_after_all_mail_was_lost() -> None:
    office, server = Office(), Server()
    async with line_to(server, office) as line:
        await introduce(line, office)
        server.gate.clear()
        line.add([loaded() for _ in range(20)])
        await until(lambda: len(server.groups) > 1)

        abandoned = asyncio.create_task(line.abandon(within=20.0))
        await until(lambda: not len(line))
        server.gate.set()
        await abandoned

    assert set(office.endings()) == {Ending.SENT}
    assert len(office.settled) == sum(server.groups)


async def test_a_first_mail_without_an_answer_does_not_keep_another_from_trying() -> None:
    """The mail may be at fault, not the server."""
    office, server = Office(), Server(hangs=1)
    async with line_to(server, office) as line:
        line.add([loaded()])
        await until(lambda: len(server.groups) == 1)
        office.clock.move(office.unproven_stall_s / 2)
        line.add([loaded()])
        office.clock.move(office.unproven_stall_s)

        line.check_stalls()

        await until(lambda: len(office.settled) == 1)
        assert server.opened == 2
        assert office.endings() == [Ending.SENT]


async def test_a_stranger_that_hangs_is_given_few_mails_and_the_others_go_back() -> None:
    office, server = Office(), Server(hangs=9)
    async with line_to(server, office) as line:
        for _ in range(6):
            line.add([loaded() for _ in range(5)])
            for _ in range(MAX_UNPROVEN_ASIDE):
                await all_is_done()
                office.clock.move(office.unproven_stall_s + 1)
                line.check_stalls()
                await all_is_done()

        assert server.groups == [1] * MAX_UNPROVEN_ASIDE
        assert len(office.settled) == 30 - MAX_UNPROVEN_ASIDE
        assert set(office.endings()) == {Ending.DEFER}


async def test_mail_of_a_server_that_goes_silent_leaves_its_slots_to_others() -> None:
    office, server = Office(), Server()
    async with line_to(server, office, most=1) as line:
        await introduce(line, office)
        server.gate.clear()
        line.add([loaded() for _ in range(4)])
        await until(lambda: line._slots.held == 2)
        office.clock.move(office.stall_s + 1)
        under_way = len(office.slots._aside), line._slots.held

        line.check_stalls()

        assert under_way == (0, 2)
        assert (len(office.slots._aside), line._slots.held) == (2, 0)


async def test_waiting_for_slots_is_not_the_servers_silence() -> None:
    """Its mail goes back so that other mail can come, and nothing is said about the account."""
    office, server = Office(slots=Slots(2)), Server()
    assert await office.slots.take(1, AccountSlots()) == 1  # all that strangers may have
    async with line_to(server, office) as line:
        line.add([loaded(), loaded()])
        await until(lambda: len(line._slot_waits) > 0)
        office.clock.move(office.unproven_stall_s + 1)
        assert line.is_stalled

        line.check_stalls()

        assert office.endings() == [Ending.DEFER] * 2
        assert office.troubles == []
        assert server.groups == []
