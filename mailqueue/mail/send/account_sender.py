"""Sends the emails of one account: prepares a group, sends it, settles each outcome."""

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import timedelta

from mailqueue.core.crashpoints import reach
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict
from mailqueue.mail.message.attachments import carries_files, count_within_memory
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
        self._waiting: deque[LoadedEmail] = deque()
        self._has_mail = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()
        self._serving = 0  # connections that take mail; those being closed do not
        self._seconds_per_email = 0.0  # in the last group
        self._slots = AccountSlots()
        self._has_answered = False  # its server has answered an email, and has not stalled since
        self._replies = StallDetector(context.now)
        self._slot_waits = StallDetector(context.now)  # not the server's delay
        self._has_failed = self._is_unresponsive = False  # each until the next answer
        self._is_closing = False

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Return whether nothing waits and no connection is open."""
        return not self._waiting and not self._connections

    def add(self, mails: Sequence[LoadedEmail]) -> None:
        """Queue loaded emails for this account."""
        self._waiting.extend(mails)
        self.check_stalls()
        self._has_mail.set()
        self._connect()

    def _connect(self) -> None:
        """Open as many connections as the waiting mail is worth."""
        # A connection that waits for a reply may do so for minutes: count it as occupied.
        worth = 1 + len(self._replies) + len(self._waiting) // EMAILS_PER_CONNECTION
        for _ in range(min(worth, self._max_connections()) - self._serving):
            self._serving += 1
            task = asyncio.create_task(self._connection(), name=f"sender-{self.account.id}")
            self._connections.add(task)
            task.add_done_callback(self._connection_ended)

    def _max_connections(self) -> int:
        if self.account.send_delay:
            return 1
        if not self._slots.is_unproven:
            return self.account.max_connections
        # An email without an answer may itself be the cause: one more connection finds out.
        is_silent = self._replies.silent_s() > self._context.unresponsive_s
        return min(self.account.max_connections, 1 + max(is_silent, self._slots.aside))

    async def close(self) -> None:
        """Return what was not started to the queue and wait for what is in flight."""
        self._is_closing = True
        self._return_waiting("the worker stops")
        reach("rest.given_back")
        self._has_mail.set()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def abandon(self, *, within: float) -> None:
        """Start nothing more; receive replies for `within` seconds, then cut the connections."""
        self._waiting.clear()
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
        context = self._context
        longest_s = context.stall_s if self._has_answered else context.unproven_stall_s
        is_silent = self._replies.silent_s() > context.unresponsive_s
        if is_silent and len(self._replies) + len(self._slot_waits) >= self._serving:
            self._is_unresponsive = True
            context.slots.mark_unresponsive(self._slots)
        overdue = self._replies.overdue(context.unresponsive_s if is_silent else longest_s)
        stalled = [(one.email_id, one.claim_no) for reply in overdue for one in reply.attempts]
        freed_slots = context.slots.set_aside(stalled, self._slots)
        if not self._waiting:
            return
        if self._has_answered and self._is_unresponsive:
            self._connect()  # the fault may be one connection's
        if self._replies.silent_s() > longest_s:
            slot_waits = 0 if freed_slots else len(self._slot_waits)
            may_open = self._serving < self._max_connections()
            if not (self._has_answered or slot_waits) and may_open:
                self._connect()
            elif len(self._replies) + slot_waits >= self._serving:  # none is left to take mail
                why = f"the server has not answered for {longest_s:.0f} s"
                self._has_answered = False
                self._fail(Rejected(Fault.TRANSIENT, "", why, Stage.CONNECT))
        elif self._slot_waits.silent_s() > longest_s and not freed_slots:
            self._return_waiting("other accounts hold all slots of this worker", wait=RETURN_WAIT)

    def _fail(self, why: Rejected) -> None:
        self._has_failed = True
        self._context.account_failed(self.account.id, why)
        self._return_waiting(why.detail, wait=RETURN_WAIT)

    def _connection_ended(self, task: asyncio.Task[None]) -> None:
        self._connections.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            log.error("connection.failed", sender_account=self.account.id, exc_info=fault)
            if not self._serving:
                self._return_waiting(f"{type(fault).__name__} in the connection", wait=RETURN_WAIT)

    async def _connection(self) -> None:
        channel: Channel | None = None
        most = 1
        try:
            while await self._wait_for_mail():
                if channel is None or not channel.is_usable:
                    if channel is not None:
                        await channel.close()
                    channel = await self._open_channel()
                    most = 1
                    if channel is None:
                        return
                await self._send_group(channel, most)
                most = min(most * 2, self._group_size())
        finally:
            self._serving -= 1  # before it closes: mail that comes now needs another connection
            if channel is not None:
                await channel.close()

    def _group_size(self) -> int:
        most = self._context.slots.max_per_account
        fair = -(-most // self._max_connections())
        if self._seconds_per_email * fair >= GROUP_SECONDS:
            return fair
        return min(most, int(GROUP_SECONDS / max(self._seconds_per_email, 1e-6)))

    async def _open_channel(self) -> Channel | None:
        with self._replies.waiting() as reply:
            try:
                opened = await self.account.transport.open()
            except Exception as exc:  # of this account alone, which rests
                log.exception("channel.not_opened", sender_account=self.account.id)
                why = f"{type(exc).__name__} while connecting"
                opened = Rejected(Fault.TRANSIENT, "", why, Stage.CONNECT)
            if not isinstance(opened, Rejected):
                self._replies.received(reply)  # it may still stall at the first email
                return opened
        if self._serving == 1:  # else the server takes no more connections; the others go on
            self._fail(opened)
        return None

    async def _wait_for_mail(self) -> bool:
        """Wait for mail; return False when the connection has been idle for too long."""
        while not self._waiting and not self._is_closing:
            self._has_mail.clear()
            try:
                async with asyncio.timeout(self._context.idle_s):
                    await self._has_mail.wait()
            except TimeoutError:
                break
        return bool(self._waiting)

    async def _send_group(self, channel: Channel, most: int) -> None:
        """Take slots for up to `most` waiting emails, then mark, build and send those."""
        slots = self._context.slots
        wanted = 1 if self.account.send_delay else min(most, len(self._waiting))
        with self._slot_waits.waiting() as reply:
            count = await slots.take(wanted, self._slots)
            self._slot_waits.received(reply)
        group: Sequence[LoadedEmail] = [
            self._waiting.popleft() for _ in range(min(count, len(self._waiting)))
        ]
        if len(group) < count:
            slots.give_back(count - len(group), self._slots)
        if not group:
            return
        if any(map(carries_files, group)):  # put back those whose files would take too much memory
            count = count_within_memory(group)
            self._waiting.extendleft(reversed(group[count:]))
            slots.give_back(len(group) - count, self._slots)
            group = group[:count]
        attempts = await prepare(group, self._slots, account=self.account, context=self._context)
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

    def _note_verdict(self, attempt: SendAttempt, verdict: Verdict) -> None:
        """Record what a verdict says about the account and its server."""
        if not isinstance(verdict, Rejected) or verdict.code:  # else nothing was received
            is_news = self._has_failed or not self._has_answered
            self._has_failed = self._is_unresponsive = False
            self._has_answered = True
            if is_news:
                self._context.account_answered(self.account.id)
            if self._slots.is_unproven:
                self._context.slots.mark_responsive(self._slots)
                if self._waiting:
                    self._connect()
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
        while self._waiting:
            deferred = unsent(self._waiting.popleft(), Ending.DEFER, reason)
            self._context.settler.settle(deferred._replace(wait=wait))
