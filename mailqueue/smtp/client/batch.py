"""The emails of one `send` call: each is encoded once and reported exactly once, in order."""

import asyncio
from collections.abc import Sequence

from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict, with_conversation
from mailqueue.ports.transport import Report, SendAttempt
from mailqueue.smtp.client.envelope import EncodedEmail, Extensions, encode
from mailqueue.smtp.client.record import OpeningRecord, record_of
from mailqueue.smtp.client.transaction import MailTransaction
from mailqueue.telemetry.log import get_logger

LARGE_BYTES = 256 * 1024
"""Bytes of a message from which on it is encoded in a thread; 25 MB take a tenth of a second."""

log = get_logger(__name__)


class EnvelopeBatch:
    """The emails of one `send` call, and how far they have been sent."""

    __slots__ = (
        "_answered_at",
        "_fault",
        "_large",
        "_loop",
        "_mails",
        "_next",
        "_offered",
        "_opening",
        "_planned",
        "_report",
    )

    def __init__(
        self,
        mails: Sequence[SendAttempt],
        report: Report,
        offered: Extensions,
        opening: OpeningRecord,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._mails = mails
        self._report = report
        self._answered_at = 0.0  # when the server had answered the email before
        self._fault: Exception | None = None  # the first that a report raised
        self._offered = offered
        self._opening = opening
        self._next = 0
        self._planned: EncodedEmail | Verdict | None = None  # of the next mail
        self._large: dict[int, EncodedEmail | Verdict] = {}  # encoded ahead, by place

    @classmethod
    async def of(
        cls,
        mails: Sequence[SendAttempt],
        report: Report,
        offered: Extensions,
        opening: OpeningRecord,
    ) -> "EnvelopeBatch":
        """Return the batch of these emails; large ones are encoded in a thread."""
        batch = cls(mails, report, offered, opening)
        for place, mail in enumerate(mails):
            if len(mail.message) >= LARGE_BYTES:
                batch._large[place] = await asyncio.to_thread(_encoded, mail, offered)
        return batch

    def take(self) -> EncodedEmail | None:
        """Return the next email that this server can take; report those that it cannot."""
        while self._next < len(self._mails):
            planned = self._peek()
            self._pass()
            if isinstance(planned, EncodedEmail):
                return planned
            self.report(self._mails[self._next - 1], planned, started=self._loop.time())
        return None

    def take_ready(self) -> EncodedEmail | None:
        """Return the next email; None if it must be reported first, after those before it."""
        if self._next == len(self._mails):
            return None
        planned = self._peek()
        if not isinstance(planned, EncodedEmail):
            return None
        self._pass()
        return planned

    def report(self, mail: SendAttempt, verdict: Verdict, *, started: float) -> None:
        """Report one email; `started` is the event loop's time when the server could begin with it.

        What the report raises must not end the session halfway: `raise_fault` raises it later.
        """
        took_ms = int((self._loop.time() - started) * 1000)
        try:
            self._report(mail, verdict, took_ms)
        except Exception as exc:
            self._fault = self._fault or exc

    def report_answered(self, turns: list[MailTransaction], *, lost: str = "") -> None:
        """Report the emails of transactions that a reply ended, and clear the list.

        `lost` is the reason the connection ended if their replies cannot be trusted.
        """
        for turn in turns:
            if lost:
                self.report_lost(turn, lost, trusted=False)
            else:
                self._report_recorded(turn, turn.verdict(), "")
        turns.clear()

    def report_lost(
        self, turn: MailTransaction, why: str, *, trusted: bool, stage: Stage | None = None
    ) -> None:
        """Report the email of a transaction whose connection ended."""
        verdict = turn.verdict_when_lost(why, trusted=trusted, stage=stage)
        self._report_recorded(turn, verdict, why)

    def _report_recorded(self, turn: MailTransaction, verdict: Verdict, why: str) -> None:
        """Report with the record of the transaction, unless all recipients were accepted."""
        if verdict.__class__ is not Accepted or verdict.refused:
            now = self._loop.time()
            try:
                record = record_of(self._opening, turn.log, ended=now, why=why)
                verdict = with_conversation(verdict, record)
            except Exception:  # the verdict counts without it
                log.exception("conversation.not_recorded", email_id=str(turn.plan.mail.email_id))
        # Before that, the server had not begun with an envelope that was written ahead.
        self.report(turn.plan.mail, verdict, started=max(turn.started, self._answered_at))
        self._answered_at = self._loop.time()

    def raise_fault(self) -> None:
        """Raise the first exception of a report."""
        if self._fault is not None:
            raise self._fault

    def report_rest(self, why: str) -> None:
        """Report every email that is left: the connection is closed and none of them was sent."""
        rest = self._mails[self._next :]
        self._next = len(self._mails)
        verdict = behind(why)
        for mail in rest:
            self.report(mail, verdict, started=self._loop.time())

    def _peek(self) -> EncodedEmail | Verdict:
        if self._planned is None and self._large:
            self._planned = self._large.pop(self._next, None)
        if self._planned is None:
            self._planned = _encoded(self._mails[self._next], self._offered)
        return self._planned

    def _pass(self) -> None:
        self._next += 1
        self._planned = None


def _encoded(mail: SendAttempt, offered: Extensions) -> EncodedEmail | Verdict:
    try:
        return encode(mail, offered)
    except Exception as exc:  # this email's alone: no byte of it was sent
        log.exception("message.not_encoded", email_id=str(mail.email_id))
        why = f"{type(exc).__name__} while encoding its envelope"
        return Rejected(Fault.PERMANENT_MESSAGE, "", why, Stage.CONNECT)


def behind(why: str) -> Rejected:
    """Return the verdict of an email whose connection ended before the email was sent."""
    return Rejected(Fault.TRANSIENT, "", why, Stage.CONNECT)
