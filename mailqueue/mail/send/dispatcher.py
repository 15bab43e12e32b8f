"""The lines of one worker process: claimed mail goes to the line of its sender account."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

from mailqueue.core.errors import MailqueueError
from mailqueue.core.verdict import Kind, Rejected, Stage
from mailqueue.db.faults import concerns_rows
from mailqueue.db.fetch import Conn
from mailqueue.mail.message.render import key_of, sheets_of
from mailqueue.mail.message.tracking import Call
from mailqueue.mail.model import (
    ClaimedEmail,
    Ending,
    FileFault,
    Parcel,
    Recipient,
    Settlement,
)
from mailqueue.mail.send.account_sender import SenderLine
from mailqueue.mail.send.context import Account, Desk
from mailqueue.mail.send.stall_detector import Awake
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.telemetry.log import get_logger
from mailqueue.templates.cache import Key, Sheet, Sheets

FindAccount = Callable[[int], Awaitable[Account]]
ReadTags = Callable[[Sequence[UUID]], Awaitable[Mapping[UUID, tuple[str, ...]]]]
UNUSABLE_WAIT = timedelta(seconds=5)
RELIEVE_SECONDS = 0.25
FORGET_SECONDS = 60.0
"""So often lines without mail and connections are forgotten: accounts may be many."""
MOST_DOUBTFUL = 2000
"""So many mails may wait for servers that say nothing, beside all others; more would pile up."""

log = get_logger(__name__)


class Lines:
    """Deals claimed mail to one line per sender account."""

    def __init__(
        self, desk: Desk, find_account: FindAccount, awake: Awake, *, read_tags: ReadTags
    ) -> None:
        self._desk = desk
        self._read_tags = read_tags
        self._awake = awake
        self._find_account = find_account
        self._by_account: dict[int, SenderLine] = {}
        self._closing: dict[SenderLine, asyncio.Task[None]] = {}  # their accounts were changed

    async def relieve_forever(self) -> None:
        """Let the mail of servers that say nothing keep nobody else's waiting, until cancelled."""
        forgot_at = self._awake.seconds()
        while True:
            await asyncio.sleep(RELIEVE_SECONDS)
            self._awake.tick(RELIEVE_SECONDS)
            for line in (*self._by_account.values(), *self._closing):
                line.relieve()
            if self._awake.seconds() - forgot_at > FORGET_SECONDS:
                forgot_at = self._awake.seconds()
                self.forget()

    def forget(self) -> None:
        """Forget lines that have nothing to do; their accounts are read again when they have."""
        self._by_account = {id_: line for id_, line in self._by_account.items() if not line.is_idle}

    def held(self) -> int:
        """Return how many claimed mails wait in memory; of doubtful lines only what is too much."""
        counts = [0, 0]
        for line in self._by_account.values():
            counts[line.is_doubtful] += len(line)
        return counts[False] + max(0, counts[True] - MOST_DOUBTFUL)

    def overdue(self) -> list[int]:
        """Name the accounts whose servers say nothing while mail waits for them here."""
        return [id_ for id_, line in self._by_account.items() if len(line) and line.is_doubtful]

    async def deal(self, parcels: Sequence[Parcel]) -> None:
        """Hand each mail to the line of its account; those without a usable one go back."""
        by_account: dict[tuple[int, int], list[Parcel]] = {}
        for parcel in parcels:
            key = (parcel.email.assigned_to, parcel.email.account_revision)
            by_account.setdefault(key, []).append(parcel)
        for (account_id, revision), mine in by_account.items():
            try:
                line = await self._line(account_id, revision)
                if line.account.wants_tags:
                    mine = await self._tagged(mine)
                    line = await self._line(account_id, revision)  # it may be forgotten by now
            except MailqueueError as exc:
                self._refuse(account_id, mine, reason=str(exc))
            except Exception as exc:
                if not concerns_rows(exc):
                    raise
                log.exception("account.unreadable", sender_account=account_id)
                reason = f"{type(exc).__name__} while its sender account was read"
                self._refuse(account_id, mine, reason=reason)
            else:
                line.add(mine)

    async def close(self) -> None:
        """Give back what was not started and wait for what is in flight."""
        lines = self._by_account.values()
        await asyncio.gather(*(line.close() for line in lines), *self._closing.values())

    async def abandon(self, *, within: float) -> None:
        """Begin nothing more, and hear what is answered within so many seconds."""
        lines = (*self._by_account.values(), *self._closing)
        await asyncio.gather(*(line.abandon(within=within) for line in lines))

    async def _line(self, account_id: int, revision: int) -> SenderLine:
        line = self._by_account.get(account_id)
        if line is None or line.account.revision < revision:
            account = await self._find_account(account_id)
            if line is not None:
                self._close_beside(line)  # it may wait for its server for minutes
            line = self._by_account[account_id] = SenderLine(account, self._desk)
        return line

    async def _tagged(self, parcels: Sequence[Parcel]) -> list[Parcel]:
        tags = await self._read_tags([parcel.email.id for parcel in parcels])
        return [parcel._replace(tags=tags.get(parcel.email.id, ())) for parcel in parcels]

    def _close_beside(self, line: SenderLine) -> None:
        self._closing[line] = closing = asyncio.create_task(line.close())
        closing.add_done_callback(lambda _: self._closing.pop(line))

    def _refuse(self, account_id: int, parcels: Sequence[Parcel], *, reason: str) -> None:
        self._desk.failed(account_id, Rejected(Kind.TRANSIENT, "", reason, Stage.CONNECT))
        for parcel in parcels:
            self._desk.scribe.settle(
                Settlement(
                    id=parcel.email.id,
                    claim_no=parcel.email.claim_no,
                    ending=Ending.DEFER,
                    reason=reason,
                    wait=UNUSABLE_WAIT,
                )
            )


async def load_parcels(call: Call, claimed: Sequence[ClaimedEmail], sheets: Sheets) -> list[Parcel]:
    """Read what the claimed mails say, in their order; one that cannot be read has a fault.

    `call` calls with a connection, again when it broke.
    """
    try:
        return await call(partial(read_parcels, claimed=claimed, sheets=sheets))
    except Exception as exc:
        if not concerns_rows(exc):
            raise
        if len(claimed) == 1:
            (email,) = claimed
            log.exception("email.unreadable", email_id=str(email.id))
            reason = f"{type(exc).__name__} while what it says was read"
            return [Parcel(email, None, fault=FileFault(reason, is_lasting=True))]
    # One of them is at fault: by itself it is that one's alone.
    return [one for email in claimed for one in await load_parcels(call, [email], sheets)]


async def read_parcels(conn: Conn, claimed: Sequence[ClaimedEmail], sheets: Sheets) -> list[Parcel]:
    """Read what the claimed mails say."""
    wanted = {email.content_id: email.content_on for email in claimed}
    days = sorted(set(wanted.values()))
    contents = {
        content.id: content
        for content in await claims_store.read_contents(conn, list(wanted), days=days)
    }
    found = await sheets_of(conn, sheets, contents.values())
    recipients: dict[UUID, list[Recipient]] = {}
    # Of every mail: the count does not tell which have several, one of them may be left.
    for one in await claims_store.read_recipients(conn, [email.id for email in claimed]):
        recipients.setdefault(one.email_id, []).append(one)
    parcels = [
        Parcel(email, contents.get(email.content_id), tuple(recipients.get(email.id, ())))
        for email in claimed
    ]
    if not found:
        return parcels
    return [_with_sheet(parcel, found) for parcel in parcels]


def _with_sheet(parcel: Parcel, found: Mapping[Key, Sheet]) -> Parcel:
    key = key_of(parcel.content)
    return parcel if key is None else parcel._replace(sheet=found.get(key))
