"""An account sender opens connections for its mail, and leaves no mail without one."""

import asyncio

import pytest

from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.mail.model import Ending, LoadedEmail, MarkVerdict
from mailqueue.mail.send.concurrency import MAX_UNPROVEN_ASIDE, AccountSlots, Slots
from tests.mail.claims import claimed, loaded
from tests.mail.send.scripted import (
    AWAY,
    RecordedContext,
    ScriptedServer,
    all_is_done,
    introduce,
    sender_to,
    until,
)

pytestmark = pytest.mark.anyio


async def test_mail_is_sent_and_its_outcome_given() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    async with sender_to(server, recorded) as line:
        line.add([loaded() for _ in range(3)])
        await until(lambda: len(recorded.settled) == 3)

    assert recorded.endings() == [Ending.SENT] * 3
    assert server.opened == 1


async def test_a_refusal_that_is_about_us_is_told_of_the_account() -> None:
    listed = Rejected(Fault.INFRASTRUCTURE, "554", "listed", Stage.RCPT)
    recorded, server = RecordedContext(), ScriptedServer(verdict=listed)
    async with sender_to(server, recorded) as line:
        line.add([loaded()])
        await until(lambda: len(recorded.settled) == 1)

    assert recorded.email_failures == [(Fault.INFRASTRUCTURE, "ann@example.org")]


async def test_more_mail_is_worth_more_connections_up_to_a_bound() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    async with sender_to(server, recorded, max_connections=2) as line:
        await introduce(line, recorded)
        server.gate.clear()
        line.add([loaded() for _ in range(200)])
        await until(lambda: server.opened == 2)
        await all_is_done()
        assert server.opened == 2


async def test_a_server_that_never_answered_gets_one_connection_and_one_mail() -> None:
    recorded, server = RecordedContext(slots=Slots(32)), ScriptedServer()
    server.gate.clear()
    async with sender_to(server, recorded) as line:
        line.add([loaded() for _ in range(200)])
        await until(lambda: server.opened == 1)
        await all_is_done()
        assert server.opened == 1

        server.gate.set()

        await until(lambda: server.opened == 4)
        assert server.groups[0] == 1


async def test_mail_that_comes_while_the_last_connection_says_goodbye_gets_another() -> None:
    recorded, server = RecordedContext(idle_s=0.01), ScriptedServer()
    server.goodbye.clear()
    async with sender_to(server, recorded) as line:
        line.add([loaded()])
        await until(lambda: len(recorded.settled) == 1)
        await until(lambda: line._serving == 0)  # it is closing now

        line.add([loaded()])

        await until(lambda: len(recorded.settled) == 2)


async def test_when_all_connections_are_refused_at_once_the_mail_goes_back() -> None:
    recorded, server = RecordedContext(), ScriptedServer(opens=[None, *[AWAY] * 4])
    async with sender_to(server, recorded) as line:
        await introduce(line, recorded)
        server.is_usable = False
        server.gate.clear()
        line.add([loaded() for _ in range(150)])
        await until(lambda: server.opened == 5)

        server.gate.set()

        await until(lambda: len(recorded.settled) == 151)
    assert set(recorded.endings()[1:]) == {Ending.DEFER}
    assert recorded.failures == ["answered", "connection refused"]


async def test_one_refused_connection_among_others_is_no_failure() -> None:
    recorded, server = RecordedContext(), ScriptedServer(opens=[None, AWAY])
    async with sender_to(server, recorded) as line:
        line.add([loaded() for _ in range(8 + 32)])
        await until(lambda: len(recorded.settled) >= 6)

    assert "connection refused" not in recorded.failures


async def test_mail_for_a_silent_server_goes_back_and_an_answer_ends_the_rest() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    async with sender_to(server, recorded, max_connections=1) as line:
        line.add([loaded()])
        await until(lambda: len(recorded.settled) == 1)
        server.gate.clear()
        line.add([loaded() for _ in range(10)])
        await until(lambda: len(line._replies.pending) > 0)
        line.check_stalls()
        assert len(line.waiting) > 0  # not silent for long enough

        waiting = len(line.waiting)
        recorded.clock.move(recorded.stall_s + 1)
        line.check_stalls()

        assert len(line.waiting) == 0
        assert recorded.endings().count(Ending.DEFER) == waiting > 0
        assert "has not answered" in recorded.failures[-1]
        assert line.slots.is_unproven
        server.gate.set()
        await until(lambda: recorded.failures[-1] == "answered")
        assert not line.slots.is_unproven


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
    recorded, server = RecordedContext(), ScriptedServer()
    stopped, fine = loaded(), loaded()
    recorded.settler.verdicts[stopped.claim.id] = verdict
    async with sender_to(server, recorded) as line:
        line.add([stopped, fine])
        await until(lambda: any(one.id == fine.claim.id for one in recorded.settled))

    found = {one.id: (one.ending, one.log) for one in recorded.settled}
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
async def test_one_bad_row_stops_no_other(bad: LoadedEmail) -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    async with sender_to(server, recorded) as line:
        line.add([bad, loaded()])
        await until(lambda: len(recorded.settled) == 2)

    assert sorted(recorded.endings()) == [Ending.FAILED, Ending.SENT]


async def test_closing_gives_back_what_waits_and_finishes_what_is_in_flight() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    async with sender_to(server, recorded, max_connections=1) as line:
        server.gate.clear()
        line.add([loaded()])
        await until(lambda: server.opened == 1)
        server.gate.set()
        await until(lambda: len(recorded.settled) == 1)
        server.gate.clear()
        line.add([loaded() for _ in range(20)])
        await until(lambda: len(line.waiting) < 20)

        closing = asyncio.create_task(line.close())
        await until(lambda: Ending.DEFER in recorded.endings())
        assert not closing.done()
        server.gate.set()
        await closing

    assert set(recorded.endings()) == {Ending.SENT, Ending.DEFER}
    assert len(recorded.settled) == 21


async def test_abandoning_ends_in_time_without_an_error() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    server.gate.clear()
    async with sender_to(server, recorded) as line:
        line.add([loaded() for _ in range(5)])
        await until(lambda: server.opened == 1)

        await line.abandon(within=0.01)
        await line.close()

        assert line.is_idle
    assert recorded.settled == []


async def test_an_answer_on_its_way_is_heard_after_all_mail_was_lost() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    async with sender_to(server, recorded) as line:
        await introduce(line, recorded)
        server.gate.clear()
        line.add([loaded() for _ in range(20)])
        await until(lambda: len(server.groups) > 1)

        abandoned = asyncio.create_task(line.abandon(within=20.0))
        await until(lambda: not len(line.waiting))
        server.gate.set()
        await abandoned

    assert set(recorded.endings()) == {Ending.SENT}
    assert len(recorded.settled) == sum(server.groups)


async def test_a_first_mail_without_an_answer_does_not_keep_another_from_trying() -> None:
    """The mail may be at fault, not the server."""
    recorded, server = RecordedContext(), ScriptedServer(hangs=1)
    async with sender_to(server, recorded) as line:
        line.add([loaded()])
        await until(lambda: len(server.groups) == 1)
        recorded.clock.move(recorded.unproven_stall_s / 2)
        line.add([loaded()])
        recorded.clock.move(recorded.unproven_stall_s)

        line.check_stalls()

        await until(lambda: len(recorded.settled) == 1)
        assert server.opened == 2
        assert recorded.endings() == [Ending.SENT]


async def test_an_unproven_account_that_hangs_gets_few_mails_and_the_others_are_returned() -> None:
    recorded, server = RecordedContext(), ScriptedServer(hangs=9)
    async with sender_to(server, recorded) as line:
        for _ in range(6):
            line.add([loaded() for _ in range(5)])
            for _ in range(MAX_UNPROVEN_ASIDE):
                await all_is_done()
                recorded.clock.move(recorded.unproven_stall_s + 1)
                line.check_stalls()
                await all_is_done()

        assert server.groups == [1] * MAX_UNPROVEN_ASIDE
        assert len(recorded.settled) == 30 - MAX_UNPROVEN_ASIDE
        assert set(recorded.endings()) == {Ending.DEFER}


async def test_mail_of_a_server_that_goes_silent_leaves_its_slots_to_others() -> None:
    recorded, server = RecordedContext(), ScriptedServer()
    async with sender_to(server, recorded, max_connections=1) as line:
        await introduce(line, recorded)
        server.gate.clear()
        line.add([loaded() for _ in range(4)])
        await until(lambda: line.slots.held == 2)
        recorded.clock.move(recorded.stall_s + 1)
        under_way = len(recorded.slots._aside), line.slots.held

        line.check_stalls()

        assert under_way == (0, 2)
        assert (len(recorded.slots._aside), line.slots.held) == (2, 0)


async def test_waiting_for_slots_is_not_the_servers_silence() -> None:
    """Its mail is returned so that other mail can be claimed, and nothing is recorded about the
    account.
    """
    recorded, server = RecordedContext(slots=Slots(2)), ScriptedServer()
    assert (
        await recorded.slots.take(1, AccountSlots()) == 1
    )  # all that accounts without a reply may have
    async with sender_to(server, recorded) as line:
        line.add([loaded(), loaded()])
        await until(lambda: len(line._slot_waits.pending) > 0)
        recorded.clock.move(recorded.unproven_stall_s + 1)
        assert line.is_stalled

        line.check_stalls()

        assert recorded.endings() == [Ending.DEFER] * 2
        assert recorded.failures == []
        assert server.groups == []
