"""The emails of one `send` call: each is planned once and reported exactly once, in order."""

import asyncio
from collections.abc import Sequence

from mailqueue.core.verdict import Kind, Rejected, Stage, Verdict
from mailqueue.ports.transport import Report, SendAttempt
from mailqueue.smtp.client.envelope import Offered, Plan, plan


class EnvelopeBatch:
    """The emails of one `send` call and their progress."""

    __slots__ = ("_loop", "_mails", "_next", "_offered", "_planned", "_report")

    def __init__(self, mails: Sequence[SendAttempt], report: Report, offered: Offered) -> None:
        self._loop = asyncio.get_running_loop()
        self._mails = mails
        self._report = report
        self._offered = offered
        self._next = 0
        self._planned: Plan | Verdict | None = None  # of the next mail

    def take(self) -> Plan | None:
        """Return the next email that this server can take; report those that it cannot."""
        while self._next < len(self._mails):
            planned = self._peek()
            self._pass()
            if isinstance(planned, Plan):
                return planned
            self.report(self._mails[self._next - 1], planned, started=self._loop.time())
        return None

    def take_ready(self) -> Plan | None:
        """Return the next email; None if it must be reported first, which waits its turn."""
        if self._next == len(self._mails):
            return None
        planned = self._peek()
        if not isinstance(planned, Plan):
            return None
        self._pass()
        return planned

    def report(self, mail: SendAttempt, verdict: Verdict, *, started: float) -> None:
        """Report one email; `started` is the loop's time when its first byte was written."""
        self._report(mail, verdict, int((self._loop.time() - started) * 1000))

    def report_rest(self, why: str) -> None:
        """Report every email not taken yet: the connection is closed, none of them was sent."""
        rest = self._mails[self._next :]
        self._next = len(self._mails)
        verdict = behind(why)
        for mail in rest:
            self._report(mail, verdict, 0)

    def _peek(self) -> Plan | Verdict:
        if self._planned is None:
            self._planned = plan(self._mails[self._next], self._offered)
        return self._planned

    def _pass(self) -> None:
        self._next += 1
        self._planned = None


def behind(why: str) -> Rejected:
    """Return the verdict of an email whose connection ended before its turn."""
    return Rejected(Kind.TRANSIENT, "", why, Stage.CONNECT)
