"""Writes down which sender accounts cannot be reached or refuse us, so that their lanes wait."""

import asyncio
from collections import deque
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.limits import refusal_of
from mailqueue.core.verdict import Kind, Rejected, Stage
from mailqueue.db.link import Link
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.telemetry.log import get_logger

MOST_BLAME = 200
"""Refused mails of one account kept for the database; of more the oldest are dropped."""

log = get_logger(__name__)


class Blame(NamedTuple):
    """A mail that failed for a reason of its sender account's, and the recipient's domain."""

    kind: Kind
    domain: str | None  # None where it may concern the mail alone
    detail: str
    email_id: UUID
    refusal: str | None  # what makes unrecognized refusals alike


class Trouble:
    """Takes notes from the lines and writes them beside the mail, newest news per account."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._news: dict[int, Rejected | None] = {}
        self._blame: dict[int, deque[Blame]] = {}
        self._has_news = asyncio.Event()

    def answered(self, account: int) -> None:
        """Note that the account's server accepts connections."""
        self._note(account, None)

    def failed(self, account: int, why: Rejected) -> None:
        """Note that the account's server cannot be reached, or will not have us."""
        log.warning("sender.failed", sender_account=account, kind=why.kind, detail=why.detail)
        self._note(account, why)

    def blamed(self, account: int, why: Rejected, address: str, email_id: UUID) -> None:
        """Note that a mail failed for reasons of the account's or its server's, or unknown."""
        domain: str | None = address.rpartition("@")[2].lower()
        refusal = None
        if why.kind is Kind.UNRECOGNIZED:
            domain, refusal = None, refusal_of(why.code, why.enhanced, why.detail)
        waiting = self._blame.setdefault(account, deque(maxlen=MOST_BLAME))
        waiting.append(Blame(why.kind, domain, why.detail, email_id, refusal))
        self._has_news.set()

    async def run(self) -> None:
        """Write the news until cancelled."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            while self._news:
                account, why = self._news.popitem()
                await self._write(account, why)
                reach("trouble.written")
            while self._blame:
                account, blame = self._blame.popitem()
                await self._report(account, blame)
            await self._link.close()  # news are rare, and connections are dear

    async def _report(self, account: int, blame: deque[Blame]) -> None:
        kinds, domains, details, emails, refusals = map(list, zip(*blame, strict=True))
        await self._link.call(
            lambda conn: claims_store.report_failures(
                conn,
                account,
                kinds=kinds,
                domains=domains,
                details=details,
                emails=emails,
                refusals=refusals,
            )
        )

    def _note(self, account: int, why: Rejected | None) -> None:
        before = self._news.get(account)
        if before is None or not _suspends(before):  # nothing that comes later takes that back
            self._news[account] = why
        self._has_news.set()

    async def _write(self, account: int, why: Rejected | None) -> None:
        if why is None:
            await self._link.call(lambda conn: claims_store.sender_answered(conn, account))
        elif _suspends(why):
            await self._link.call(
                lambda conn: claims_store.suspend_sender(conn, account, why.detail)
            )
        elif why.kind is Kind.RATE_LIMITED or why.retry_after:
            await self._link.call(
                lambda conn: claims_store.rest_sender_for(
                    conn, account, why.detail, wait=why.retry_after, is_quota=why.is_quota
                )
            )
        else:
            await self._link.call(lambda conn: claims_store.rest_sender(conn, account, why.detail))


def _suspends(why: Rejected) -> bool:
    # With a time it only has to wait.
    is_refusal = why.kind is Kind.ACCOUNT and why.stage is Stage.CONNECT and not why.retry_after
    return is_refusal or why.stops
