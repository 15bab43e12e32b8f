"""Dispatches loaded emails to the senders of their accounts, one sender for each account."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.errors import MailqueueError
from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.db.faults import concerns_rows
from mailqueue.mail.model import Ending, LoadedEmail
from mailqueue.mail.send.account_sender import AccountSender
from mailqueue.mail.send.context import SendAccount, SendContext
from mailqueue.mail.send.load import EmailLoader
from mailqueue.mail.send.pacing import Pacing
from mailqueue.mail.send.prepare import unsent
from mailqueue.mail.send.turns import LoadingTurns
from mailqueue.telemetry.log import get_logger

FindAccount = Callable[[int], Awaitable[SendAccount]]
ReadTags = Callable[[Sequence[UUID]], Awaitable[Mapping[UUID, tuple[str, ...]]]]
UNUSABLE_WAIT = timedelta(seconds=5)
"""Wait of an email whose sender account could not be read."""
STALL_CHECK_SECONDS = 0.25
"""Interval between two checks for servers that do not reply."""
DROP_IDLE_SECONDS = 60.0
"""Interval between two rounds that drop idle senders: there may be many accounts."""
MAX_STALLED_EMAILS = 2000
"""Emails waiting in memory for servers that do not reply, beside all others."""

log = get_logger(__name__)


class WaitingEmails(NamedTuple):
    """The claimed emails that wait in memory for their senders."""

    emails: int  # those of stalled senders only beyond MAX_STALLED_EMAILS
    stalled_accounts: list[int]  # whose servers do not reply while mail waits for them
    is_idle: bool  # none waits, holds a slot or has an unwritten outcome


class EmailDispatcher:
    """The account senders of one worker process."""

    def __init__(
        self,
        context: SendContext,
        find_account: FindAccount,
        *,
        read_tags: ReadTags,
        loader: EmailLoader,
    ) -> None:
        self._context = context
        self._read_tags = read_tags
        self._clock = context.clock
        self._find_account = find_account
        self._by_account: dict[int, AccountSender] = {}
        self._closing: dict[AccountSender, asyncio.Task[None]] = {}  # their accounts were changed
        self.pacing = Pacing(self.dispatch)
        self.turns = LoadingTurns(loader, self.dispatch, self._give_back)

    async def check_stalls_forever(self) -> None:
        """Check for servers that do not reply until cancelled; drop idle senders from time to
        time.
        """
        dropped_at = self._clock.seconds
        while True:
            await asyncio.sleep(STALL_CHECK_SECONDS)
            self._clock.seconds += STALL_CHECK_SECONDS
            for sender in (*self._by_account.values(), *self._closing):
                sender.check_stalls()
            if self._clock.seconds - dropped_at > DROP_IDLE_SECONDS:
                dropped_at = self._clock.seconds
                self.drop_idle()

    def drop_idle(self) -> None:
        """Drop senders without mail and connections; their accounts are read again when needed."""
        self._by_account = {
            id_: sender for id_, sender in self._by_account.items() if not sender.is_idle
        }

    def waiting(self) -> WaitingEmails:
        """Return what the claimed emails in memory say about the next claim."""
        count, stalled, stalled_accounts = len(self.pacing.held), 0, []
        for account_id, sender in self._by_account.items():
            if sender.waiting and sender.is_stalled:
                stalled += len(sender.waiting)
                stalled_accounts.append(account_id)
            else:
                count += len(sender.waiting)
        in_use = self._context.slots.in_use
        count += self.turns.count
        is_idle = not (count or stalled or in_use) and self._context.settler.is_idle.is_set()
        count += max(0, stalled - MAX_STALLED_EMAILS)
        return WaitingEmails(count, stalled_accounts, is_idle)

    async def dispatch(
        self,
        mails: Sequence[LoadedEmail],
        send_at: Mapping[UUID, float] | None = None,
        claimed_at: float = 0.0,
    ) -> None:
        """Pass each email to the sender of its account; return it to the queue if there is none.

        Those named in `send_at` are passed on then. The times are the database's.
        """
        if send_at:
            mails = self.pacing.hold(mails, send_at, claimed_at=claimed_at)
        by_account: dict[tuple[int, int], list[LoadedEmail]] = {}
        for mail in mails:
            key = (mail.claim.assigned_to, mail.claim.account_revision)
            by_account.setdefault(key, []).append(mail)
        for (account_id, revision), mine in by_account.items():
            try:
                sender = self._by_account.get(account_id)
                if sender is None or sender.account.revision < revision:
                    sender = await self._new_sender(account_id)
                if sender.account.wants_tags:
                    mine = await self._tagged(mine)
                    # It may have been dropped or replaced meanwhile.
                    sender = self._by_account.setdefault(account_id, sender)
            except MailqueueError as exc:
                self._return(account_id, mine, reason=str(exc))
            except Exception as exc:
                if not concerns_rows(exc):
                    raise
                log.exception("account.unreadable", sender_account=account_id)
                reason = f"{type(exc).__name__} while its sender account was read"
                self._return(account_id, mine, reason=reason)
            else:
                sender.add(mine)

    async def close(self) -> None:
        """Return what was not started to the queue and wait for what is in flight."""
        waiting = await self.turns.take_all()
        for mail in (*waiting, *await self.pacing.take_all()):
            self._context.settler.settle(unsent(mail, Ending.DEFER, "the worker stops"))
        senders = self._by_account.values()
        await asyncio.gather(*(sender.close() for sender in senders), *self._closing.values())

    async def abandon(self, *, within: float) -> None:
        """Start nothing more; still receive replies that come within `within` seconds."""
        await self.turns.take_all()
        await self.pacing.take_all()
        senders = (*self._by_account.values(), *self._closing)
        await asyncio.gather(*(sender.abandon(within=within) for sender in senders))

    async def _new_sender(self, account_id: int) -> AccountSender:
        account = await self._find_account(account_id)
        former = self._by_account.get(account_id)
        if former is not None and former.account.revision >= account.revision:
            return former  # other emails of the account have asked meanwhile
        if former is not None:
            self._close_in_background(former)  # it may wait for its server for minutes
        sender = self._by_account[account_id] = AccountSender(account, self._context)
        return sender

    async def _tagged(self, mails: Sequence[LoadedEmail]) -> list[LoadedEmail]:
        tags = await self._read_tags([mail.claim.id for mail in mails])
        return [mail._replace(tags=tags.get(mail.claim.id, ())) for mail in mails]

    def _close_in_background(self, sender: AccountSender) -> None:
        self._closing[sender] = closing = asyncio.create_task(sender.close())
        closing.add_done_callback(lambda _: self._closing.pop(sender))

    def _give_back(self, mail: LoadedEmail, reason: str, wait: timedelta) -> None:
        deferred = unsent(mail, Ending.DEFER, reason)
        self._context.settler.settle(deferred._replace(wait=wait))

    def _return(self, account_id: int, mails: Sequence[LoadedEmail], *, reason: str) -> None:
        self._context.account_failed(
            account_id, Rejected(Fault.TRANSIENT, "", reason, Stage.CONNECT)
        )
        for mail in mails:
            self._give_back(mail, reason, UNUSABLE_WAIT)
