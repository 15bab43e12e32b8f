"""An account sender whose server and context are scripted, and what the context recorded."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast
from uuid import UUID

from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict
from mailqueue.mail.message.attachments import AttachmentLoader, FileRef
from mailqueue.mail.message.build import SkeletonCache
from mailqueue.mail.model import (
    ClaimedEmail,
    Ending,
    FileFault,
    Mark,
    Marks,
    MarkVerdict,
    SendOutcome,
)
from mailqueue.mail.send.account_sender import AccountSender
from mailqueue.mail.send.concurrency import AccountSlots, Slots
from mailqueue.mail.send.context import SendAccount, SendContext
from mailqueue.mail.send.large import LargeBuilds
from mailqueue.mail.send.settler import EmailSettler
from mailqueue.mail.send.stall_detector import ActiveClock
from mailqueue.ports.transport import Channel, Report, SendAttempt
from mailqueue.senders.model import MailDefaults
from tests.mail.claims import SENDER, loaded
from tests.mail.send.test_settler import NOWHERE

AWAY = Rejected(Fault.TRANSIENT, "", "connection refused", Stage.CONNECT)


class RecordingSettler(EmailSettler):
    """A settler without a database; every mark is granted except those in `verdicts`."""

    def __init__(self, slots: Slots) -> None:
        super().__init__(NOWHERE, slots, worker=1, batch=200, wake=lambda: None)
        self.verdicts: dict[UUID, MarkVerdict] = {}
        self.settled: list[SendOutcome] = []

    def mark(self, emails: Sequence[ClaimedEmail], share: AccountSlots) -> "asyncio.Future[Marks]":
        self._open.update({(one.id, one.claim_no): share for one in emails})
        named = {
            one.id: Mark(one.id, self.verdicts[one.id]) for one in emails if one.id in self.verdicts
        }
        done: asyncio.Future[Marks] = asyncio.get_running_loop().create_future()
        done.set_result(Marks(named))
        return done

    def settle(self, outcome: SendOutcome) -> None:
        self.settled.append(outcome)
        mail = (outcome.id, outcome.claim_no)
        if mail in self._open:
            self._slots.release([(mail, self._open.pop(mail))])


@dataclass
class ScriptedServer:
    """A transport and its channels; `opens` lists the results of opening, None for a channel."""

    opens: list[Rejected | None] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    goodbye: asyncio.Event = field(default_factory=asyncio.Event)
    opened: int = 0
    groups: list[int] = field(default_factory=list)
    hangs: int = 0  # number of first groups that get no answer
    hangs_from: int | None = None  # the first group of so many mails gets no answer
    hung: int = 0  # number of mails in that group
    pause: float = 0.0  # seconds before each answer
    fails: Exception | None = None
    raises: Exception | None = None  # when it is opened
    odd: int = 0  # number of the email whose verdict is none
    answered: int = 0
    is_usable: bool = True
    verdict: Verdict = field(default_factory=lambda: Accepted("250", "ok"))

    def __post_init__(self) -> None:
        self.gate.set()
        self.goodbye.set()

    async def open(self) -> Channel | Rejected:
        self.opened += 1
        if self.raises:
            raise self.raises
        await self.gate.wait()
        return (self.opens.pop(0) if self.opens else None) or self

    async def send(
        self, mails: Sequence[SendAttempt], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        self.groups.append(len(mails))
        if len(self.groups) <= self.hangs:
            await asyncio.Event().wait()
        if not self.hung and self.hangs_from is not None and len(mails) >= self.hangs_from:
            self.hung = len(mails)
            await asyncio.Event().wait()
        for mail in mails:
            assert may_finish()
            await self.gate.wait()
            await asyncio.sleep(self.pause)  # no server answers at once
            if self.fails:
                raise self.fails
            self.answered += 1
            report(mail, cast("Verdict", None) if self.answered == self.odd else self.verdict, 1)

    async def close(self) -> None:
        await self.goodbye.wait()


@dataclass
class Clock(ActiveClock):
    """A clock that a test moves."""

    seconds: float = 1000.0

    def move(self, seconds: float) -> None:
        self.seconds += seconds


@dataclass
class RecordedContext:
    """A send context that records outcomes and failures."""

    failures: list[str] = field(default_factory=list)
    email_failures: list[tuple[Fault, str]] = field(default_factory=list)
    slots: Slots = field(default_factory=lambda: Slots(8))
    idle_s: float = 20.0
    unresponsive_s: float = 0.25
    stall_s: float = 5.0
    unproven_stall_s: float = 1.0
    clock: Clock = field(default_factory=Clock)

    octets: dict[UUID, bytes | FileFault] = field(default_factory=dict)  # of files that are stored

    def __post_init__(self) -> None:
        self.settler = RecordingSettler(self.slots)

    async def read(self, refs: Sequence[FileRef]) -> dict[UUID, bytes | FileFault]:
        return {ref.id: self.octets[ref.id] for ref in refs if ref.id in self.octets}

    @property
    def settled(self) -> list[SendOutcome]:
        return self.settler.settled

    def context(self) -> SendContext:
        return SendContext(
            slots=self.slots,
            settler=self.settler,
            skeleton_cache=SkeletonCache(),
            large_builds=LargeBuilds(),
            attachments=AttachmentLoader(self.read),
            may_finish=lambda: True,
            account_answered=lambda _: self.failures.append("answered"),
            account_failed=lambda _, why: self.failures.append(why.detail),
            email_failed=lambda _, why, address, _email: self.email_failures.append(
                (why.kind, address)
            ),
            clock=self.clock,
            idle_s=self.idle_s,
            unresponsive_s=self.unresponsive_s,
            stall_s=self.stall_s,
            unproven_stall_s=self.unproven_stall_s,
        )

    def endings(self) -> list[Ending]:
        return [one.ending for one in self.settled]


@asynccontextmanager
async def sender_to(
    server: ScriptedServer, recorded: RecordedContext, *, max_connections: int = 4
) -> AsyncIterator[AccountSender]:
    account = SendAccount(1, 1, MailDefaults(SENDER), max_connections, timedelta(0), server)
    sender = AccountSender(account, recorded.context())
    try:
        async with asyncio.timeout(60):
            yield sender
    finally:
        await sender.abandon(within=0.0)
        server.goodbye.set()
        await sender.close()


async def introduce(sender: AccountSender, recorded: RecordedContext) -> None:
    """Have the server answer a first mail, so that the account is proven."""
    sender.add([loaded()])
    await until(lambda: len(recorded.settled) == 1)


async def all_is_done() -> None:
    """Run every task until all wait."""
    for _ in range(100):
        await asyncio.sleep(0)


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(30_000):
        if holds():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("the condition was not met within 30 s")
