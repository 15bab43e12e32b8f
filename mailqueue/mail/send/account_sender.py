"""One sender account's mail in this process: waiting mails and the connections that send them."""

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import timedelta

from mailqueue.core.crashpoints import reach
from mailqueue.core.verdict import Kind, Rejected, Stage, Verdict
from mailqueue.mail.message.attachments import carries_files, fitting
from mailqueue.mail.message.build import Letter
from mailqueue.mail.model import Ending, Parcel
from mailqueue.mail.send.concurrency import Share
from mailqueue.mail.send.context import Account, Desk
from mailqueue.mail.send.outcomes import Handed, blame_of, halt_of, settlement_of
from mailqueue.mail.send.prepare import drafts_of, letters_of, unsent
from mailqueue.mail.send.stall_detector import Question, Silence
from mailqueue.ports.transport import Channel, Outgoing
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)
GROUP_SECONDS = 0.05
"""What a connection marks and sends in one go is worth so long, as quick as its server was last.

It begins with one mail and doubles at most. However slow a server is, its connections share all
places that one line may have.
"""
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
        self._pace = 0.0  # seconds a mail took last
        self._share = Share()
        self._is_known = False  # its server has answered a mail, and was not given up since
        self._silence = Silence(desk.now)
        self._thirst = Silence(desk.now)  # of connections that wait for slots: no server's fault
        self._is_troubled = self._is_doubted = False  # failed, or silent; and no answer since
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
        if not self._share.is_stranger:
            return self.account.max_connections
        # A mail without an answer may be the mail's fault: one more finds out.
        is_silent = self._silence.seconds() > self._desk.doubt_s
        return min(self.account.max_connections, 1 + max(is_silent, self._share.aside))

    async def close(self) -> None:
        """Give back what was not started and wait for what is in flight."""
        self._is_closing = True
        self._give_back_all("the worker stops")
        reach("rest.given_back")
        self._has_mail.set()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def abandon(self, *, within: float) -> None:
        """Begin nothing more: the mails are no longer ours.

        Answers that come within so many seconds are still heard; what has none then is cut off.
        """
        self._waiting.clear()
        self._is_closing = True
        self._has_mail.set()
        if self._connections:
            await asyncio.wait(self._connections, timeout=within)
        for task in self._connections:
            task.cancel()

    @property
    def is_doubtful(self) -> bool:
        """Say that what waits here may soon go back: it should keep nobody's mail from coming."""
        is_thirsty = self._thirst.seconds() > self._desk.doubt_s
        return self._is_troubled or self._is_doubted or is_thirsty

    def relieve(self) -> None:
        """Where the server says nothing at all, let its mail keep no other mail waiting.

        After a moment what is under way is set aside, and it gets few slots. Later what waits goes
        back, and the account rests, unless it only waited for slots.
        """
        longest = self._desk.stall_s if self._is_known else self._desk.stranger_s
        is_silent = self._silence.seconds() > self._desk.doubt_s
        if is_silent and len(self._silence) + len(self._thirst) >= self._serving:
            self._is_doubted = True
            self._desk.slots.estrange(self._share)
        late = self._silence.unanswered(self._desk.doubt_s if is_silent else longest)
        mails = [(handed.email.id, handed.email.claim_no) for one in late for handed in one.mails]
        made_room = self._desk.slots.set_aside(mails, self._share)
        if not self._waiting:
            return
        if self._is_known and self._is_doubted:
            self._connect()  # it may be one connection's fault
        if self._silence.seconds() > longest:
            thirsty = 0 if made_room else len(self._thirst)
            if not (self._is_known or thirsty) and self._serving < self._most_connections():
                self._connect()
            elif len(self._silence) + thirsty >= self._serving:  # none is left to take mail
                why = f"the server has not answered for {longest:.0f} s"
                self._is_known = False
                self._fail(Rejected(Kind.TRANSIENT, "", why, Stage.CONNECT))
        elif self._thirst.seconds() > longest and not made_room:
            self._give_back_all("others have all places of this worker", wait=REST)

    def _fail(self, why: Rejected) -> None:
        self._is_troubled = True
        self._desk.failed(self.account.id, why)
        self._give_back_all(why.detail, wait=REST)

    def _has_verdict(self, verdict: Verdict) -> None:
        if isinstance(verdict, Rejected) and not verdict.code:
            return  # nothing was read: no answer
        is_news = self._is_troubled or not self._is_known
        self._is_troubled = self._is_doubted = False
        self._is_known = True
        if is_news:
            self._desk.answered(self.account.id)
        if self._share.is_stranger:
            self._desk.slots.greet(self._share)
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
                most = min(most * 2, self._group())
        finally:
            # Before saying goodbye: mail that comes now needs another connection.
            self._serving -= 1
            if channel is not None:
                await channel.close()

    def _group(self) -> int:
        fair = -(-self._desk.slots.for_one // self._most_connections())
        if self._pace * fair >= GROUP_SECONDS:
            return fair
        return min(self._desk.slots.for_one, int(GROUP_SECONDS / max(self._pace, 1e-6)))

    async def _opened(self) -> Channel | None:
        with self._silence.asking() as question:
            opened = await self.account.transport.open()
            if not isinstance(opened, Rejected):
                self._silence.heard(question)  # yet it may well hang at the first mail
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
        with self._thirst.asking() as question:
            slots = await desk.slots.take(wanted, self._share)
            self._thirst.heard(question)
        group: Sequence[Parcel] = [
            self._waiting.popleft() for _ in range(min(slots, len(self._waiting)))
        ]
        if len(group) < slots:
            desk.slots.give_back(slots - len(group), self._share)
        if not group:
            return
        if any(map(carries_files, group)):
            group = self._what_fits(group)
        letters = await self._composed(group)
        if letters:
            await self._hand_over(channel, letters)
        if self.account.send_delay:
            await asyncio.sleep(self.account.send_delay.total_seconds())

    def _what_fits(self, group: Sequence[Parcel]) -> Sequence[Parcel]:
        """Put back mails whose files would take too much memory at once."""
        count = fitting(group)
        self._waiting.extendleft(reversed(group[count:]))
        self._desk.slots.give_back(len(group) - count, self._share)
        return group[:count]

    async def _composed(self, group: Sequence[Parcel]) -> Sequence[Letter]:
        """Mark a group and compose it. Should that fail it goes back: nothing of it was begun."""
        desk, slots = self._desk, len(group)
        try:
            reach("slots.taken")
            if any(map(carries_files, group)):
                group = await desk.files.fetched(group)
            marking = desk.scribe.mark([parcel.email for parcel in group], self._share)
            slots = 0  # each is freed with its mail
            for _ in range(2):  # first the scribe asks, then we work while the database does
                await asyncio.sleep(0)
            drafts = drafts_of(group, account=self.account, desk=desk)
            marks = await marking
            reach("mark.read")
            return letters_of(group, drafts, marks, account=self.account, desk=desk)
        except Exception as exc:  # one bad row must not stop a worker
            log.exception("group.failed", sender_account=self.account.id)
            desk.slots.give_back(slots, self._share)
            for parcel in group:
                deferred = unsent(parcel, Ending.DEFER, f"{type(exc).__name__} before sending")
                desk.scribe.settle(deferred._replace(wait=REST))
            return ()

    async def _hand_over(self, channel: Channel, letters: Sequence[Letter]) -> None:
        outgoing = [letter.outgoing for letter in letters]
        unreported = {letter.outgoing.email_id: letter.handed for letter in letters}
        begun = asyncio.get_running_loop().time()
        try:
            with self._silence.asking(unreported.values()) as question:

                def report(mail: Outgoing, verdict: Verdict, took_ms: int) -> None:
                    reach("reply.read")
                    self._take(question, unreported[mail.email_id], verdict, took_ms)
                    del unreported[mail.email_id]

                await channel.send(outgoing, report, may_finish=self._desk.may_finish)
                self._pace = (asyncio.get_running_loop().time() - begun) / len(letters)
        except Exception as exc:  # one bad row must not stop a worker
            log.exception("channel.failed", sender_account=self.account.id)
            await channel.close()
            fault = Rejected(Kind.AMBIGUOUS, "", f"{type(exc).__name__} while sending", Stage.DOT)
            for handed in unreported.values():
                self._desk.scribe.settle(settlement_of(handed, fault, 0))

    def _take(self, question: Question, handed: Handed, verdict: Verdict, took_ms: int) -> None:
        self._silence.heard(question)
        self._has_verdict(verdict)
        self._desk.scribe.settle(settlement_of(handed, verdict, took_ms))
        if (halt := halt_of(verdict)) is not None:
            self._desk.failed(self.account.id, halt)
            self._give_back_all(halt.detail, wait=REST)
        elif (blame := blame_of(verdict)) is not None:
            address = blame.address or handed.addresses[0]
            self._desk.blamed(self.account.id, blame.why, address, handed.email.id)

    def _give_back_all(self, reason: str, *, wait: timedelta | None = None) -> None:
        while self._waiting:
            deferred = unsent(self._waiting.popleft(), Ending.DEFER, reason)
            self._desk.scribe.settle(deferred._replace(wait=wait))
