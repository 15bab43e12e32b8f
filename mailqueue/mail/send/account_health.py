"""Records which sender accounts cannot be reached or are refused, so that their lanes wait."""

import asyncio
from collections import deque
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.crashpoints import reach
from mailqueue.core.limits import refusal_of
from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.db.link import Link
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.telemetry.log import get_logger

MAX_KEPT_FAILURES = 200
"""Failed emails of one account kept in memory until they are written; the oldest are dropped."""

log = get_logger(__name__)


class AccountFailure(NamedTuple):
    """An email that failed because of its sender account, and the recipient's domain."""

    kind: Fault
    domain: str | None  # None if the failure may concern this email alone
    detail: str
    email_id: UUID
    refusal: str | None  # groups unrecognized refusals that are alike


class AccountHealth:
    """Collects the state of accounts from their senders and writes the newest one of each."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._states: dict[int, Rejected | None] = {}  # None: the server answers
        self._failures: dict[int, deque[AccountFailure]] = {}
        self._has_news = asyncio.Event()

    def account_answered(self, account: int) -> None:
        """Record that the account's server accepts connections."""
        self._note(account, None)

    def account_failed(self, account: int, why: Rejected) -> None:
        """Record that the account's server cannot be reached, or refuses the account."""
        log.warning("sender.failed", sender_account=account, kind=why.kind, detail=why.detail)
        self._note(account, why)

    def email_failed(self, account: int, why: Rejected, address: str, email_id: UUID) -> None:
        """Record that an email failed because of the account or its server, or for an unknown
        reason.
        """
        domain: str | None = address.rpartition("@")[2].lower()
        refusal = None
        if why.kind is Fault.UNRECOGNIZED:
            domain, refusal = None, refusal_of(why.code, why.enhanced, why.detail)
        waiting = self._failures.setdefault(account, deque(maxlen=MAX_KEPT_FAILURES))
        waiting.append(AccountFailure(why.kind, domain, why.detail, email_id, refusal))
        self._has_news.set()

    async def run(self) -> None:
        """Write what was recorded until cancelled."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            while self._states:
                account, why = self._states.popitem()
                await self._write(account, why)
                reach("account_health.written")
            while self._failures:
                account, failures = self._failures.popitem()
                await self._write_failures(account, failures)
            await self._link.close()  # seldom used, and connections are expensive

    async def _write_failures(self, account: int, failures: deque[AccountFailure]) -> None:
        kinds, domains, details, emails, refusals = map(list, zip(*failures, strict=True))
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
        before = self._states.get(account)
        if before is None or not _suspends(before):  # a suspension is not taken back
            self._states[account] = why
        self._has_news.set()

    async def _write(self, account: int, why: Rejected | None) -> None:
        if why is None:
            await self._link.call(lambda conn: claims_store.sender_answered(conn, account))
        elif _suspends(why):
            await self._link.call(
                lambda conn: claims_store.suspend_sender(conn, account, why.detail)
            )
        elif why.kind is Fault.RATE_LIMITED or why.retry_after:
            await self._link.call(
                lambda conn: claims_store.rest_sender_for(
                    conn, account, why.detail, wait=why.retry_after, is_quota=why.is_quota
                )
            )
        else:
            await self._link.call(lambda conn: claims_store.rest_sender(conn, account, why.detail))


def _suspends(why: Rejected) -> bool:
    # A refusal that names a time only has to be waited for.
    is_refusal = why.kind is Fault.ACCOUNT and why.stage is Stage.CONNECT and not why.retry_after
    return is_refusal or why.stops
