"""One account's line: connections are opened for mail, and no mail is left without one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import pytest

from mailqueue.core.verdict import Accepted, Kind, Rejected, Stage
from mailqueue.mail.letter import Skeletons
from mailqueue.mail.line import Account, Desk, SenderLine
from mailqueue.mail.model import ClaimedEmail, Ending, Mark, MarkVerdict, Parcel, Settlement
from mailqueue.mail.scribe import Scribe
from mailqueue.mail.slots import Slots
from mailqueue.ports.transport import Channel, Outgoing, Report
from tests.mail.claims import SENDER, claimed, parcel
from tests.mail.test_scribe import NOWHERE

pytestmark = pytest.mark.anyio
AWAY = Rejected(Kind.TRANSIENT, "", "connection refused", Stage.CONNECT)


class Book(Scribe):
    """A scribe without a database: everything may go, but for what is named."""

    def __init__(self, slots: Slots) -> None:
        super().__init__(NOWHERE, slots, worker=1, most=200, written=lambda _: None)
        self.verdicts: dict[UUID, MarkVerdict] = {}
        self.settled: list[Settlement] = []

    async def mark(self, emails: Sequence[ClaimedEmail]) -> dict[UUID, Mark]:
        go = MarkVerdict.GO
        return {one.id: Mark(one.id, self.verdicts.get(one.id, go)) for one in emails}

    def settle(self, outcome: Settlement) -> None:
        self.settled.append(outcome)


@dataclass
class Server:
    """A transport and its channels; `opens` says what opening gives, None being a channel."""

    opens: list[Rejected | None] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    goodbye: asyncio.Event = field(default_factory=asyncio.Event)
    opened: int = 0
    fails: Exception | None = None
    is_usable: bool = True

    def __post_init__(self) -> None:
        self.gate.set()
        self.goodbye.set()

    async def open(self) -> Channel | Rejected:
        self.opened += 1
        await self.gate.wait()
        return (self.opens.pop(0) if self.opens else None) or self

    async def send(
        self, mails: Sequence[Outgoing], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        for mail in mails:
            assert may_finish()
            await self.gate.wait()
            if self.fails:
                raise self.fails
            report(mail, Accepted("250", "ok"), 1)

    async def close(self) -> None:
        await self.goodbye.wait()


@dataclass
class Office:
    """A desk that writes down what it is told."""

    troubles: list[str] = field(default_factory=list)
    slots: Slots = field(default_factory=lambda: Slots(8))
    idle_s: float = 20.0
    stall_s: float = 5.0

    def __post_init__(self) -> None:
        self.book = Book(self.slots)

    @property
    def settled(self) -> list[Settlement]:
        return self.book.settled

    def desk(self) -> Desk:
        return Desk(
            slots=self.slots,
            scribe=self.book,
            skeletons=Skeletons(),
            may_finish=lambda: True,
            answered=lambda _: self.troubles.append("answered"),
            failed=lambda _, why: self.troubles.append(why.detail),
            idle_s=self.idle_s,
            stall_s=self.stall_s,
        )

    def endings(self) -> list[Ending]:
        return [one.ending for one in self.settled]


@asynccontextmanager
async def line_to(server: Server, office: Office, *, most: int = 4) -> AsyncIterator[SenderLine]:
    account = Account(1, 1, SENDER, most, timedelta(0), server)
    line = SenderLine(account, office.desk())
    try:
        async with asyncio.timeout(20):
            yield line
    finally:
        line.abandon()
        server.goodbye.set()
        await line.close()


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(2000):
        if holds():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never came true")


async def test_mail_is_sent_and_its_outcome_given() -> None:
    office, server = Office(), Server()
    async with line_to(server, office) as line:
        line.add([parcel() for _ in range(3)])
        await until(lambda: len(office.settled) == 3)

    assert office.endings() == [Ending.SENT] * 3
    assert server.opened == 1


async def test_more_mail_is_worth_more_connections_up_to_a_bound() -> None:
    office, server = Office(), Server()
    server.gate.clear()
    async with line_to(server, office, most=2) as line:
        line.add([parcel() for _ in range(200)])
        await until(lambda: server.opened == 2)
        await asyncio.sleep(0)
        assert server.opened == 2


async def test_mail_that_comes_while_the_last_connection_says_goodbye_gets_another() -> None:
    office, server = Office(idle_s=0.01), Server()
    server.goodbye.clear()
    async with line_to(server, office) as line:
        line.add([parcel()])
        await until(lambda: len(office.settled) == 1)
        await until(lambda: line._serving == 0)  # it is closing now

        line.add([parcel()])

        await until(lambda: len(office.settled) == 2)


async def test_when_all_connections_are_refused_at_once_the_mail_goes_back() -> None:
    office, server = Office(), Server(opens=[AWAY] * 4)
    server.gate.clear()
    async with line_to(server, office) as line:
        line.add([parcel() for _ in range(150)])
        await until(lambda: server.opened == 4)

        server.gate.set()

        await until(lambda: len(office.settled) == 150)
    assert set(office.endings()) == {Ending.DEFER}
    assert office.troubles == ["connection refused"]


async def test_one_refused_connection_among_others_troubles_nobody() -> None:
    office, server = Office(), Server(opens=[None, AWAY])
    async with line_to(server, office) as line:
        line.add([parcel() for _ in range(8 + 32)])
        await until(lambda: len(office.settled) >= 6)

    assert "connection refused" not in office.troubles


async def test_mail_for_a_silent_server_goes_back_and_an_answer_ends_the_rest() -> None:
    office, server = Office(stall_s=0.2), Server()
    async with line_to(server, office, most=1) as line:
        line.add([parcel()])
        await until(lambda: len(office.settled) == 1)
        server.gate.clear()
        line.add([parcel() for _ in range(10)])
        await until(lambda: bool(line._silence._asked_at))
        line.relieve()
        assert len(line) > 0  # not silent for long enough

        waiting = len(line)
        await until(lambda: line._silence.seconds() > 0.2)
        line.relieve()

        assert len(line) == 0
        assert office.endings().count(Ending.DEFER) == waiting > 0
        assert "has not answered" in office.troubles[-1]
        server.gate.set()
        await until(lambda: office.troubles[-1] == "answered")


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
    stopped, fine = parcel(), parcel()
    office.book.verdicts[stopped.email.id] = verdict
    async with line_to(server, office) as line:
        line.add([stopped, fine])
        await until(lambda: any(one.id == fine.email.id for one in office.settled))

    found = {one.id: (one.ending, one.log) for one in office.settled}
    assert found.get(stopped.email.id) == (None if ending is None else (ending, None))
    assert found[fine.email.id][0] is Ending.SENT


@pytest.mark.parametrize(
    "bad",
    [
        parcel(email=claimed(recipient_email="nobody@")),
        parcel(headers={"X-Number": 7}),
    ],
    ids=["address", "header"],
)
async def test_one_bad_row_stops_nobody(bad: Parcel) -> None:
    office, server = Office(), Server()
    async with line_to(server, office) as line:
        line.add([bad, parcel()])
        await until(lambda: len(office.settled) == 2)

    assert sorted(office.endings()) == [Ending.FAILED, Ending.SENT]


async def test_a_fault_of_ours_while_sending_leaves_the_fate_unknown() -> None:
    """Window: nobody can say how far it came."""
    office, server = Office(), Server(fails=KeyError("bug"))
    async with line_to(server, office) as line:
        line.add([parcel(), parcel()])
        await until(lambda: len(office.settled) == 2)

    assert office.endings() == [Ending.UNKNOWN] * 2


async def test_closing_gives_back_what_waits_and_finishes_what_is_in_flight() -> None:
    office, server = Office(), Server()
    async with line_to(server, office, most=1) as line:
        server.gate.clear()
        line.add([parcel()])
        await until(lambda: server.opened == 1)
        server.gate.set()
        await until(lambda: len(office.settled) == 1)
        server.gate.clear()
        line.add([parcel() for _ in range(20)])
        await until(lambda: len(line) < 20)

        closing = asyncio.create_task(line.close())
        await until(lambda: Ending.DEFER in office.endings())
        assert not closing.done()
        server.gate.set()
        await closing

    assert set(office.endings()) == {Ending.SENT, Ending.DEFER}
    assert len(office.settled) == 21


async def test_abandoning_ends_at_once_without_an_error() -> None:
    office, server = Office(), Server()
    server.gate.clear()
    async with line_to(server, office) as line:
        line.add([parcel() for _ in range(5)])
        await until(lambda: server.opened == 1)

        line.abandon()
        await line.close()

        assert line.is_idle
    assert office.settled == []
