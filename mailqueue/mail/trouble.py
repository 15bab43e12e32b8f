"""Writes down which sender accounts cannot be reached or refuse us, so that their lanes wait."""

import asyncio
from collections import deque
from datetime import timedelta
from typing import NamedTuple

from mailqueue.core.crashpoints import reach
from mailqueue.core.verdict import Kind, Rejected, Stage
from mailqueue.db.link import Link
from mailqueue.mail import store
from mailqueue.telemetry.log import get_logger

MOST_BLAME = 200
"""Refused mails of one account kept for the database; of more the oldest are dropped."""

SHORTEST_WAIT = timedelta(seconds=1)
"""Where a server asks for a pause and names no time; longer each time in a row."""

log = get_logger(__name__)


class Blame(NamedTuple):
    """A mail that failed for a reason of its sender account's, and the recipient's domain."""

    kind: Kind
    domain: str
    detail: str


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

    def blamed(self, account: int, why: Rejected, address: str) -> None:
        """Note that a mail failed for a reason that is the account's, or its server's."""
        domain = address.rpartition("@")[2].lower()
        waiting = self._blame.setdefault(account, deque(maxlen=MOST_BLAME))
        waiting.append(Blame(why.kind, domain, why.detail))
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
        kinds, domains, details = map(list, zip(*blame, strict=True))
        await self._link.call(
            lambda conn: store.report_failures(
                conn, account, kinds=kinds, domains=domains, details=details
            )
        )

    def _note(self, account: int, why: Rejected | None) -> None:
        self._news[account] = why
        self._has_news.set()

    async def _write(self, account: int, why: Rejected | None) -> None:
        if why is None:
            await self._link.call(lambda conn: store.sender_answered(conn, account))
        elif why.kind is Kind.ACCOUNT and why.stage is Stage.CONNECT and not why.retry_after:
            # With a time, as where a quota is used up, it only has to wait.
            await self._link.call(lambda conn: store.suspend_sender(conn, account, why.detail))
        elif (wait := _asked_for(why)) is not None:
            await self._link.call(
                lambda conn: store.rest_sender_for(conn, account, why.detail, wait=wait)
            )
        else:
            await self._link.call(lambda conn: store.rest_sender(conn, account, why.detail))


def _asked_for(why: Rejected) -> timedelta | None:
    """Give the wait that a server asks for; None where it asks for none and may be away."""
    return why.retry_after or (SHORTEST_WAIT if why.kind is Kind.RATE_LIMITED else None)
