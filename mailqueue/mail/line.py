"""One sender account's mail in this process: waiting mails and the connections that send them."""

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.verdict import Kind, Rejected, Stage, Verdict
from mailqueue.mail.desk import Account, Desk
from mailqueue.mail.judgement import settlement_of
from mailqueue.mail.letter import CannotCompose, Letter, write_letter
from mailqueue.mail.model import (
    Ending,
    LogStatus,
    Mark,
    MarkVerdict,
    Parcel,
    Settlement,
)
from mailqueue.mail.silence import Silence
from mailqueue.ports.transport import Channel, Outgoing
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)

GROUP = 16
"""Mails one connection marks and sends in one go; it begins with one and doubles."""
WAITING_PER_CONNECTION = 32
"""So many mails waiting are worth another connection."""
REST = timedelta(seconds=1)


class SenderLine:
    """Sends the mails of one account in order, over as many connections as they are worth."""

    def __init__(self, account: Account, desk: Desk) -> None:
        self.account = account
        self._desk = desk
        self._waiting: deque[Parcel] = deque()
        self._has_mail = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()
        self._serving = 0  # connections that take mail; those that say goodbye do not
        self._silence = Silence()
        self._is_troubled = False  # its failure was reported, and no answer since
        self._has_answered = False  # the server took or refused a mail: it is no stranger
        self._is_closing = False

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Say that nothing waits and no connection is open."""
        return not self._waiting and not self._connections

    def add(self, parcels: Sequence[Parcel]) -> None:
        """Queue claimed mails for this account."""
        self._waiting.extend(parcels)
        self.relieve()
        self._has_mail.set()
        self._connect()

    def _connect(self) -> None:
        """Open as many connections as the waiting mail is worth."""
        # A connection that waits for an answer may do so for minutes: nothing waits behind it.
        worth = 1 + len(self._silence) + len(self._waiting) // WAITING_PER_CONNECTION
        for _ in range(min(worth, self._most_connections()) - self._serving):
            self._serving += 1
            task = asyncio.create_task(self._connection(), name=f"sender-{self.account.id}")
            self._connections.add(task)
            task.add_done_callback(self._ended)

    def _most_connections(self) -> int:
        if self.account.send_delay:
            return 1
        if self._has_answered:
            return self.account.max_connections
        # A mail without an answer may be the mail's fault: the next finds out, if there is room.
        may_try = self.is_doubtful and self._desk.slots.has_room_for_strangers()
        return min(self.account.max_connections, self._serving + 1) if may_try else 1

    async def close(self) -> None:
        """Give back what was not started and wait for what is in flight."""
        self._is_closing = True
        self._give_back_all("the worker stops")
        reach("rest.given_back")
        self._has_mail.set()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def abandon(self) -> None:
        """Drop everything at once: the mails are no longer ours."""
        self._waiting.clear()
        for task in self._connections:
            task.cancel()

    @property
    def is_doubtful(self) -> bool:
        """Say that the server never answered here and makes us wait: what waits may go back."""
        return not self._has_answered and self._silence.seconds() > self._desk.stranger_s / 4

    def relieve(self) -> None:
        """Where the server says nothing at all, give back what waits and let the account rest."""
        longest = self._desk.stall_s if self._has_answered else self._desk.stranger_s
        if not self._waiting or self._silence.seconds() <= longest:
            return
        if not self._has_answered and self._serving < self._most_connections():
            self._connect()
        else:
            why = f"the server has not answered for {longest:.0f} s"
            self._fail(Rejected(Kind.TRANSIENT, "", why, Stage.CONNECT))

    def _fail(self, why: Rejected) -> None:
        self._is_troubled = True
        self._desk.failed(self.account.id, why)
        self._give_back_all(why.detail, wait=REST)

    def _has_verdict(self, verdict: Verdict) -> None:
        self._silence.heard()
        if isinstance(verdict, Rejected) and not verdict.code:
            return  # nothing was read: no answer
        if self._is_troubled or not self._has_answered:
            self._is_troubled = False
            self._has_answered = True
            self._desk.slots.greet(self.account.id)
            self._desk.answered(self.account.id)
            self._connect()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._connections.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            log.error("connection.failed", sender_account=self.account.id, exc_info=fault)
            if not self._serving:
                self._give_back_all(f"{type(fault).__name__} in the connection", wait=REST)

    async def _connection(self) -> None:
        channel: Channel | None = None
        most = 1
        try:
            while await self._mail_is_waiting():
                if channel is None or not channel.is_usable:
                    if channel is not None:
                        await channel.close()
                    channel = await self._opened()
                    most = 1
                    if channel is None:
                        return
                await self._send_some(channel, most)
                most = min(GROUP, most * 2)
        finally:
            # Before saying goodbye: mail that comes now needs another connection.
            self._serving -= 1
            if channel is not None:
                await channel.close()

    async def _opened(self) -> Channel | None:
        with self._silence.asking():
            opened = await self.account.transport.open()
        if not isinstance(opened, Rejected):
            self._silence.heard()  # no answer yet: it may well hang at the first mail
            return opened
        if self._serving == 1:  # else the server takes no more connections; the others go on
            self._fail(opened)
        return None

    async def _mail_is_waiting(self) -> bool:
        """Wait a while for mail; False when the connection is not worth keeping."""
        while not self._waiting:
            if self._is_closing:
                return False
            self._has_mail.clear()
            try:
                async with asyncio.timeout(self._desk.idle_s):
                    await self._has_mail.wait()
            except TimeoutError:
                return bool(self._waiting)
        return True

    async def _send_some(self, channel: Channel, most: int) -> None:
        desk = self._desk
        wanted = 1 if self.account.send_delay else min(most, len(self._waiting))
        slots = await self._take_slots(wanted)
        group = [self._waiting.popleft() for _ in range(min(slots, len(self._waiting)))]
        desk.slots.give_back(slots - len(group), self.account.id)
        if not group:
            return
        reach("slots.taken")
        marks = await desk.scribe.mark([parcel.email for parcel in group])
        reach("mark.read")
        letters = [
            letter for parcel in group if (letter := self._written(parcel, marks[parcel.email.id]))
        ]
        if letters:
            with self._silence.asking():
                await self._hand_over(channel, {one.outgoing.email_id: one for one in letters})
        if self.account.send_delay:
            await asyncio.sleep(self.account.send_delay.total_seconds())

    async def _take_slots(self, wanted: int) -> int:
        slots = self._desk.slots
        if self._has_answered:
            return await slots.take(wanted, self.account.id)
        # Among strangers that never answer this may take long; then its mail goes back, too.
        with self._silence.asking():
            return await slots.take(wanted, self.account.id, is_stranger=True)

    async def _hand_over(self, channel: Channel, letters: dict[UUID, Letter]) -> None:
        unreported = dict(letters)

        def report(mail: Outgoing, verdict: Verdict, took_ms: int) -> None:
            reach("reply.read")
            self._has_verdict(verdict)
            handed = unreported.pop(mail.email_id).handed
            self._desk.scribe.settle(settlement_of(handed, verdict, took_ms))
            if isinstance(verdict, Rejected) and verdict.kind is Kind.RATE_LIMITED:
                self._desk.failed(self.account.id, verdict)

        outgoing = [letter.outgoing for letter in letters.values()]
        try:
            await channel.send(outgoing, report, may_finish=self._desk.may_finish)
        except Exception as exc:  # one bad row must not stop a worker
            log.exception("channel.failed", sender_account=self.account.id)
            await channel.close()
            fault = Rejected(Kind.AMBIGUOUS, "", f"{type(exc).__name__} while sending", Stage.DOT)
            for letter in unreported.values():
                self._desk.scribe.settle(settlement_of(letter.handed, fault, 0))

    def _written(self, parcel: Parcel, mark: Mark) -> Letter | None:
        """Compose a mail that may go; settle the others."""
        email = parcel.email
        match mark.verdict:
            case MarkVerdict.LOST:
                self._desk.scribe.forget(email.id, email.claim_no)
                return None
            case MarkVerdict.CANCELLED:
                self._settle(parcel, Ending.CANCELLED, "cancelled")
                return None
            case MarkVerdict.EXPIRED:
                self._settle(parcel, Ending.EXPIRED, "it expired before it could be sent")
                return None
            case MarkVerdict.SUPPRESSED:
                self._settle(parcel, Ending.SUPPRESSED, mark.reason)
                return None
            case MarkVerdict.PAUSED:
                self._settle(parcel, Ending.DEFER, None)  # into the lane where it waits
                return None
            case MarkVerdict.GO:
                pass
        try:
            return write_letter(
                parcel,
                self._desk.skeletons,
                default_sender=self.account.default_sender,
                now=datetime.now(UTC),
                stopped=mark.stopped,
            )
        except CannotCompose as exc:
            reason = str(exc)
        except Exception as exc:  # one bad row must not stop a worker
            log.exception("letter.failed", email_id=str(email.id))
            reason = f"{type(exc).__name__} while composing"
        self._settle(parcel, Ending.FAILED, reason, log=LogStatus.FAILED)
        return None

    def _give_back_all(self, reason: str, *, wait: timedelta | None = None) -> None:
        while self._waiting:
            self._settle(self._waiting.popleft(), Ending.DEFER, reason, wait=wait)

    def _settle(
        self,
        parcel: Parcel,
        ending: Ending,
        reason: str | None,
        *,
        wait: timedelta | None = None,
        log: LogStatus | None = None,
    ) -> None:
        self._desk.scribe.settle(
            Settlement(
                id=parcel.email.id,
                claim_no=parcel.email.claim_no,
                ending=ending,
                reason=reason,
                wait=wait,
                log=log,
            )
        )
