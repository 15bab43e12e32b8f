"""Sends by a provider's HTTP API: opens channels for one sender account."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from mailqueue.adapters.http.connection import HttpConnection, connect
from mailqueue.adapters.http.model import (
    DEFAULT_TIMEOUTS,
    PUBLIC_ONLY,
    HttpResponse,
    HttpTimeouts,
    NetworkPolicy,
)
from mailqueue.adapters.sending.api import ProviderApi, ProviderMail
from mailqueue.adapters.sending.checked import CheckedApi
from mailqueue.adapters.sending.record import HttpExchange, recorded
from mailqueue.core.verdict import Fault, Rejected, Stage, Verdict
from mailqueue.ports.transport import Report, SendAttempt
from mailqueue.smtp.client.trust import system_trust

RATE_LIMIT_PAUSE = timedelta(seconds=30)
"""Pause after a rate limit for which the provider names no time."""
REFUSAL_PAUSE = timedelta(seconds=5)
"""Time for which a refusal of the account applies to all its connections."""

LARGE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class HttpAccount:
    """Connection settings of one sender account; see `SmtpAccount`."""

    policy: NetworkPolicy = PUBLIC_ONLY
    timeouts: HttpTimeouts = DEFAULT_TIMEOUTS
    max_age: timedelta = timedelta(seconds=300)


class HttpTransport:
    """Opens channels to one provider for one account; see `ports.transport.Transport`."""

    def __init__(
        self,
        service: ProviderApi,
        account: HttpAccount,
        *,
        tls_context: ssl.SSLContext | None = None,
    ) -> None:
        """Prepare; `tls_context` None trusts what the system trusts, TLS 1.2 and later."""
        self.service = service
        self.checked = CheckedApi(service)
        self.account = account
        self._tls_context = tls_context
        self._rest: tuple[float, Rejected] | None = None

    async def open(self) -> "HttpChannel | Rejected":
        """Connect and start TLS; return a Rejected while the account is refused."""
        objection = self.objection
        if objection is not None and objection.kind is Fault.ACCOUNT:
            return objection
        refused = await self.checked.authorise()
        if refused is not None:
            return refused
        connection = await self.connect()
        return connection if isinstance(connection, Rejected) else HttpChannel(self, connection)

    async def connect(self) -> HttpConnection | Rejected:
        """Open a connection to the API."""
        site = self.service.site
        if site.scheme == "https" and self._tls_context is None:
            self._tls_context = await system_trust()
        return await connect(
            site,
            self.account.policy,
            timeouts=self.account.timeouts,
            context=self._tls_context if site.scheme == "https" else None,
        )

    def note(self, verdict: Verdict) -> None:
        """Keep a verdict that concerns the account, not only its email."""
        if not isinstance(verdict, Rejected):
            return
        if verdict.kind is Fault.RATE_LIMITED:
            wait = verdict.retry_after or RATE_LIMIT_PAUSE
            self._rest = (_now() + wait.total_seconds(), verdict)
        elif verdict.kind is Fault.ACCOUNT and verdict.stage is Stage.CONNECT:
            wait = verdict.retry_after or REFUSAL_PAUSE
            self._rest = (_now() + wait.total_seconds(), verdict)
        elif verdict.stops:  # other emails are not sent either
            stopped = replace(verdict, kind=Fault.ACCOUNT, stage=Stage.CONNECT, stops=False)
            self._rest = (_now() + REFUSAL_PAUSE.total_seconds(), stopped)

    @property
    def objection(self) -> Rejected | None:
        """Return why nothing may be sent now: the account was refused or rate limited."""
        if self._rest is None:
            return None
        until, why = self._rest
        left = until - _now()
        if left <= 0:
            self._rest = None
            return None
        if why.kind is Fault.RATE_LIMITED:
            return replace(why, retry_after=timedelta(seconds=left))
        return why


class HttpChannel:
    """One connection at a time, reopened when the provider closed it between two requests."""

    def __init__(self, transport: HttpTransport, connection: HttpConnection) -> None:
        self._transport = transport
        self._service = transport.service
        self._checked = transport.checked
        self._connection = connection
        self._opened_at = _now()
        self._is_lost = False
        self._exchanges: list[HttpExchange] = []  # of the emails whose verdicts are awaited

    @property
    def is_usable(self) -> bool:
        """Return whether another email may be sent on this channel."""
        is_young = _now() - self._opened_at < self._transport.account.max_age.total_seconds()
        objection = self._transport.objection
        is_refused = objection is not None and objection.kind is Fault.ACCOUNT
        return is_young and not self._is_lost and not is_refused

    async def send(
        self, mails: Sequence[SendAttempt], report: Report, *, may_finish: Callable[[], bool]
    ) -> None:
        """Send the emails in order and report each."""
        async for group in self._groups(mails):
            begun = _now()
            if isinstance(group, tuple):
                mail, verdict = group
                if copies := self._checked.copies(mail):
                    of_each = await self._of_each(copies, may_finish)
                    verdict = self._checked.of_copies(mail, of_each)
                report(mail, verdict, round((_now() - begun) * 1000))
                continue
            verdicts = await self._verdicts(group, may_finish)
            took_ms = round((_now() - begun) * 1000)
            for written, verdict in zip(group, verdicts, strict=True):
                report(written.mail, verdict, took_ms)

    async def _of_each(
        self, mails: Sequence[SendAttempt], may_finish: Callable[[], bool]
    ) -> list[Verdict]:
        """Send the emails as `send` does and return their verdicts."""
        verdicts: list[Verdict] = []
        async for group in self._groups(mails):
            if isinstance(group, tuple):
                verdicts.append(group[1])
            else:
                verdicts += await self._verdicts(group, may_finish)
        return verdicts

    async def close(self) -> None:
        """Close."""
        self._is_lost = True
        self._connection.close()

    async def _groups(
        self, mails: Sequence[SendAttempt]
    ) -> AsyncIterator[list[ProviderMail] | tuple[SendAttempt, Verdict]]:
        """Yield the emails of one request, or an email that cannot be sent, in order."""
        group: list[ProviderMail] = []
        octets = 0
        for mail in mails:
            if len(mail.message) < LARGE_BYTES:
                written = self._checked.write(mail)
            else:  # parsing it may take a second
                written = await asyncio.to_thread(self._checked.write, mail)
            if isinstance(written, Rejected):
                if group:
                    yield group
                group, octets = [], 0
                yield mail, written
                continue
            octets += len(written.octets) + 1
            if group and not self._fits(group, written, octets=octets):
                yield group
                group, octets = [], len(written.octets) + 1
            group.append(written)
        if group:
            yield group

    def _fits(self, group: Sequence[ProviderMail], another: ProviderMail, *, octets: int) -> bool:
        return (
            len(group) < self._service.most_in_call
            and octets + 1 <= self._service.max_call_bytes
            and not another.goes_alone
            and not group[-1].goes_alone
        )

    async def _verdicts(
        self, group: Sequence[ProviderMail], may_finish: Callable[[], bool]
    ) -> Sequence[Verdict]:
        objection = self._transport.objection
        if objection is None and self._is_lost:
            objection = _LOST
        if objection is not None:
            return [objection] * len(group)
        self._exchanges.clear()
        answer, doubt = await self._answer(group, may_finish)
        if isinstance(answer, Rejected):
            if not _is_of_mail(answer):
                self._is_lost = True
            elif len(group) > 1:  # one of them: nothing was sent
                return await self._of_halves(group, may_finish)
            return self._recorded([answer] * len(group))
        judged = self._checked.judge(group, answer)
        if len(group) > 1 and not answer.is_success and all(map(_is_of_mail, judged)):
            # One of them caused the refusal: send halves, so that the others are not refused.
            return await self._of_halves(group, may_finish)
        for verdict in judged:
            self._transport.note(verdict)
        if doubt is None:
            return self._recorded(judged)
        # The repeated request was refused, so the outcome of the first is unknown.
        doubted = [
            doubt if _is_for_now(verdict) and not _is_in_doubt(verdict) else verdict
            for verdict in judged
        ]
        return self._recorded(doubted)

    def _recorded(self, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
        return recorded(verdicts, self._exchanges, secrets=self._service.secrets)

    async def _of_halves(
        self, group: Sequence[ProviderMail], may_finish: Callable[[], bool]
    ) -> Sequence[Verdict]:
        half = len(group) // 2
        first = await self._verdicts(group[:half], may_finish)
        if any(map(_is_unrecognized, first)):  # perhaps the account's: the others count no attempt
            return [*first, *[_BESIDE] * (len(group) - half)]
        return [*first, *await self._verdicts(group[half:], may_finish)]

    async def _answer(
        self, group: Sequence[ProviderMail], may_finish: Callable[[], bool]
    ) -> tuple[HttpResponse | Rejected, Rejected | None]:
        """Send the request, again if that is safe; return the response and any doubt left."""
        first = await self._asked(group, may_finish)
        if isinstance(first, HttpResponse):
            if not self._checked.renew(first):
                return first, None
            refused = await self._checked.authorise()
            return refused or await self._asked(group, may_finish), None
        if first.kind is not Fault.AMBIGUOUS or not self._service.is_repeatable:
            return first, None
        second = await self._asked(group, may_finish)
        return (second, first) if isinstance(second, HttpResponse) else (first, None)

    async def _asked(
        self, group: Sequence[ProviderMail], may_finish: Callable[[], bool]
    ) -> HttpResponse | Rejected:
        if not self._connection.is_usable:
            self._connection.close()
            connection = await self._transport.connect()
            if isinstance(connection, Rejected):
                return connection
            self._connection = connection
        connection, began = self._connection, _now()
        connection.asked = None
        answer = await self._checked.ask(connection, group, may_finish=may_finish)
        if connection.asked is not None:
            self._exchanges.append(HttpExchange(began, _now(), *connection.asked, answer))
        return answer


_LOST = Rejected(Fault.TRANSIENT, "", "the connection broke at an earlier email", Stage.CONNECT)


_BESIDE = Rejected(Fault.TRANSIENT, "", "another email of the request was refused", Stage.CONNECT)


def _is_of_mail(verdict: Verdict) -> bool:
    if not isinstance(verdict, Rejected):
        return True
    kinds = (Fault.PERMANENT_RECIPIENT, Fault.PERMANENT_MESSAGE, Fault.UNRECOGNIZED)
    return verdict.kind in kinds


def _is_unrecognized(verdict: Verdict) -> bool:
    return isinstance(verdict, Rejected) and verdict.kind is Fault.UNRECOGNIZED


def _is_in_doubt(verdict: Verdict) -> bool:
    return isinstance(verdict, Rejected) and verdict.kind is Fault.AMBIGUOUS


def _is_for_now(verdict: Verdict) -> bool:
    return not _is_of_mail(verdict) or _is_unrecognized(verdict)


def _now() -> float:
    return asyncio.get_running_loop().time()
