"""Sends the emails of one account: prepares a group, sends it, settles each outcome."""

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import timedelta

from mailqueue.core.crashpoints import reach
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict
from mailqueue.mail.message.attachments import count_within_memory
from mailqueue.mail.model import Ending, LoadedEmail
from mailqueue.mail.send.concurrency import AccountSlots
from mailqueue.mail.send.context import SendAccount, SendContext
from mailqueue.mail.send.hand_over import hand_over
from mailqueue.mail.send.outcomes import account_failure_of, halt_of
from mailqueue.mail.send.prepare import RETURN_WAIT, prepare, unsent
from mailqueue.mail.send.stall_detector import StallDetector
from mailqueue.ports.transport import Channel, SendAttempt
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)
GROUP_SECONDS = 0.05
"""Time that one group of emails should take, at the pace of the server's last group. A connection
starts with one email, and a group is at most twice the one before. However slow a server is, its
connections share all slots that one account may have."""
EMAILS_PER_CONNECTION = 32
"""Emails waiting for which another connection is opened."""


class AccountSender:
    """Sends the emails of one account in order, over as many connections as they are worth."""

    def __init__(self, account: SendAccount, context: SendContext) -> None:
        self.account = account
        self._context = context
        self.waiting: deque[LoadedEmail] = deque()
        self._has_mail = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()
        self._serving = 0  # connections that take mail; those being closed do not
        self._seconds_per_email = 0.0  # in the last group
        self.slots = AccountSlots()
        self._has_answered = False  # its server has answered an email, and has not stalled since
        self._replies = StallDetector(context.clock)
        self._slot_waits = StallDetector(context.clock)  # not the server's delay
        self._has_failed = self._is_unresponsive = False  # each until the next answer
        self._is_closing = False

    @property
    def is_idle(self) -> bool:
        """Return whether nothing waits and no connection is open."""
        return not self.waiting and not self._connections

    def add(self, mails: Sequence[LoadedEmail]) -> None:
        """Queue loaded emails for this account."""
        self.waiting.extend(mails)
        self.check_stalls()
        self._has_mail.set()
        self._connect()

    def _connect(self) -> None:
        """Open as many connections as the waiting mail is worth."""
        # A connection that waits for a reply may do so for minutes: count it as occupied.
        worth = 1 + len(self._replies.pending) + len(self.waiting) // EMAILS_PER_CONNECTION
        for _ in range(min(worth, self._max_connections()) - self._serving):
            self._serving += 1
            task = asyncio.create_task(self._connection(), name=f"sender-{self.account.id}")
            self._connections.add(task)
            task.add_done_callback(self._connection_ended)

    def _max_connections(self) -> int:
        if self.account.send_delay:
            return 1
        if not self.slots.is_unproven:
            return self.account.max_connections
        # An email without an answer may itself be the cause: one more connection finds out.
        is_silent = self._replies.silent_s() > self._context.unresponsive_s
        return min(self.account.max_connections, 1 + max(is_silent, self.slots.aside))

    async def close(self) -> None:
        """Return what was not started to the queue and wait for what is in flight."""
        self._is_closing = True
        self._return_waiting("the worker stops")
        reach("rest.given_back")
        self._has_mail.set()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def abandon(self, *, within: float) -> None:
        """Start nothing more; receive replies for `within` seconds, then cut the connections."""
        self.waiting.clear()
        self._is_closing = True
        self._has_mail.set()
        if self._connections:
            await asyncio.wait(self._connections, timeout=within)
        for task in self._connections:
            task.cancel()

    @property
    def is_stalled(self) -> bool:
        """Return whether the waiting emails may soon go back, so that they should not count."""
        waits_for_slots = self._slot_waits.silent_s() > self._context.unresponsive_s
        return self._has_failed or self._is_unresponsive or waits_for_slots

    def check_stalls(self) -> None:
        """Keep a server that does not reply from delaying the mail of other accounts.

        After `unresponsive_s` its emails in flight are set aside and it gets few slots. After
        `stall_s` its waiting emails go back to the queue, and the account rests unless it only
        waited for slots.
        """
        pending, slot_waits = self._replies.pending, len(self._slot_waits.pending)
        if not pending and not slot_waits and not self._is_unresponsive:
            return
        context = self._context
        longest_s = context.stall_s if self._has_answered else context.unproven_stall_s
        is_silent = self._replies.silent_s() > context.unresponsive_s
        if is_silent and len(pending) + slot_waits >= self._serving:
            self._is_unresponsive = True
            self._replies.are_usual = False
            context.slots.mark_unresponsive(self.slots)
        late = context.clock.seconds - (context.unresponsive_s if is_silent else longest_s)
        stalled = [
            (one.email_id, one.claim_no)
            for reply in pending
            if reply.received_at < late
            for one in reply.attempts
        ]
        freed_slots = context.slots.set_aside(stalled, self.slots) if stalled else 0
        if not self.waiting:
            return
        if self._has_answered and self._is_unresponsive:
            self._connect()  # the fault may be one connection's
        if self._replies.silent_s() > longest_s:
            slot_waits = 0 if freed_slots else slot_waits
            may_open = self._serving < self._max_connections()
            if not (self._has_answered or slot_waits) and may_open:
                self._connect()
            elif len(pending) + slot_waits >= self._serving:  # none is left to take mail
                why = f"the server has not answered for {longest_s:.0f} s"
                self._has_answered = False
                self._fail(Rejected(Fault.TRANSIENT, "", why, Stage.CONNECT))
        elif self._slot_waits.silent_s() > longest_s and not freed_slots:
            self._return_waiting("other accounts hold all slots of this worker", wait=RETURN_WAIT)

    def _fail(self, why: Rejected) -> None:
        self._has_failed = True
        self._replies.are_usual = False
        self._context.account_failed(self.account.id, why)
        self._return_waiting(why.detail, wait=RETURN_WAIT)

    def _connection_ended(self, task: asyncio.Task[None]) -> None:
        self._connections.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            log.error("connection.failed", sender_account=self.account.id, exc_info=fault)
            if not self._serving:
                self._return_waiting(f"{type(fault).__name__} in the connection", wait=RETURN_WAIT)

    async def _connection(self) -> None:
        """Send waiting emails over one connection until none has come for `idle_s` seconds."""
        channel: Channel | None = None
        most = 1
        try:
            while True:
                if not self.waiting:
                    if self._is_closing:
                        return
                    self._has_mail.clear()
                    try:
                        async with asyncio.timeout(self._context.idle_s):
                            await self._has_mail.wait()
                    except TimeoutError:
                        if not self.waiting:
                            return
                elif channel is not None and channel.is_usable:
                    most = 2 * await self._send_group(channel, most)
                else:
                    if channel is not None:
                        await channel.close()
                    channel, most = await self._open_channel(), 1
                    if channel is None:
                        return
        finally:
            self._serving -= 1  # before it closes: mail that comes now needs another connection
            if channel is not None:
                await channel.close()

    async def _open_channel(self) -> Channel | None:
        with self._replies.waiting() as reply:
            try:
                opened = await self.account.transport.open()
            except Exception as exc:  # of this account alone, which rests
                log.exception("channel.not_opened", sender_account=self.account.id)
                why = f"{type(exc).__name__} while connecting"
                opened = Rejected(Fault.TRANSIENT, "", why, Stage.CONNECT)
            if not isinstance(opened, Rejected):
                # It may still stall at the first email.
                reply.received_at = self._replies.received_at = self._context.clock.seconds
                return opened
        if self._serving == 1:  # else the server takes no more connections; the others go on
            self._fail(opened)
        return None

    async def _send_group(self, channel: Channel, most: int) -> int:
        """Take slots for up to `most` waiting emails, then mark, build and send those.

        Return how many there might have been: `most`, or fewer at the pace of the server.
        """
        slots = self._context.slots
        fair = -(-slots.max_per_account // self._max_connections())
        quick = int(GROUP_SECONDS / max(self._seconds_per_email, 1e-6))
        most = min(most, slots.max_per_account, max(fair, quick))
        wanted = 1 if self.account.send_delay else min(most, len(self.waiting))
        with self._slot_waits.waiting():
            count = await slots.take(wanted, self.slots)
            self._slot_waits.received_at = self._context.clock.seconds
        group = [self.waiting.popleft() for _ in range(min(count, len(self.waiting)))]
        has_files = any(
            mail.content is not None and mail.content.files is not None for mail in group
        )
        if has_files:  # put back those whose files would take too much memory
            fitting = count_within_memory(group)
            self.waiting.extendleft(reversed(group[fitting:]))
            group = group[:fitting]
        if len(group) < count:
            slots.give_back(count - len(group), self.slots)
        if not group:
            return most
        attempts = await prepare(
            group, self.slots, has_files=has_files, account=self.account, context=self._context
        )
        if attempts:
            begun = asyncio.get_running_loop().time()
            is_complete = await hand_over(
                attempts,
                channel,
                replies=self._replies,
                context=self._context,
                on_verdict=self._note_verdict,
            )
            if is_complete:
                took_s = asyncio.get_running_loop().time() - begun
                self._seconds_per_email = took_s / len(attempts)
        if self.account.send_delay:
            await asyncio.sleep(self.account.send_delay.total_seconds())
        return most

    def _note_verdict(self, attempt: SendAttempt, verdict: Verdict) -> None:
        """Record what a verdict says about the account and its server."""
        if not isinstance(verdict, Rejected) or verdict.code:  # else nothing was received
            is_news = self._has_failed or not self._has_answered
            self._has_failed = self._is_unresponsive = False
            self._has_answered = True
            if is_news:
                self._context.account_answered(self.account.id)
            if self.slots.is_unproven:
                self._context.slots.mark_responsive(self.slots)
                if self.waiting:
                    self._connect()
            self._replies.are_usual = True  # once all of this is noted
        if isinstance(verdict, Accepted) and not verdict.refused:  # nearly all
            return
        if (halt := halt_of(verdict)) is not None:
            self._context.account_failed(self.account.id, halt)
            self._return_waiting(halt.detail, wait=RETURN_WAIT)
        elif (refused := account_failure_of(verdict)) is not None:
            address = refused.address or attempt.addresses[0]
            self._context.email_failed(self.account.id, refused.why, address, attempt.email_id)

    def _return_waiting(self, reason: str, *, wait: timedelta | None = None) -> None:
        """Return all waiting emails to the queue."""
        while self.waiting:
            deferred = unsent(self.waiting.popleft(), Ending.DEFER, reason)
            self._context.settler.settle(deferred._replace(wait=wait))
