"""Follows one email through MAIL, RCPT, DATA and the final dot, and decides its verdict.

Pure: takes replies and returns the next step. RFC 5321 section 4.1.4, RFC 2920 section 3.1.
"""

import re
from enum import Enum, auto

from mailqueue.core.verdict import (
    Accepted,
    AllRefused,
    Fault,
    Refused,
    Rejected,
    Stage,
    Verdict,
)
from mailqueue.smtp.client.classify import classify
from mailqueue.smtp.client.envelope import EncodedEmail
from mailqueue.smtp.client.record import LogEntry, ReadAhead
from mailqueue.smtp.client.replies import Reply, enhanced_code

CLOSING = 421
RESET = b"RSET\r\n"
# The replies to most emails: positive to its dot, and to MAIL, RCPT and DATA of the next email.
_ALL_TAKEN = re.compile(
    rb"250 ([^\0\r\n]{0,500})\r\n250 [^\0\r\n]{0,500}\r\n250 [^\0\r\n]{0,500}\r\n"
    rb"354 [^\0\r\n]{0,500}\r\n"
)
RECIPIENT_OK = (250, 251, 252)


class NextStep(Enum):
    """What to do after a reply."""

    GO_ON = auto()  # send the next command, or read the next reply if commands were sent as a group
    BODY = auto()  # the server waits for the message
    LONE_DOT = auto()  # 354, but no recipient was accepted: send the final dot and ignore the reply
    DONE = auto()
    CLOSING = auto()  # finished, and the server closes the connection
    BROKEN = auto()  # the reply does not fit the command


GO_ON, BROKEN = NextStep.GO_ON, NextStep.BROKEN  # module-level names are faster to look up


class MailTransaction:
    """The state of one mail transaction. Mutable, one per email, hence slots."""

    __slots__ = (
        "_accepted",
        "_data",
        "_dot",
        "_refusal",
        "_refused",
        "_reply",
        "grouped",
        "handed_over",
        "log",
        "plan",
        "started",
        "step",
        "then",
    )

    def __init__(self, plan: EncodedEmail, *, grouped: bool, started: float) -> None:
        self.plan = plan
        self.grouped = grouped  # MAIL, RCPT and DATA were sent in one write
        self.started = started
        self.step = 0  # 0 MAIL, then one per recipient, then DATA, then the dot
        self.then = GO_ON
        self.handed_over = False  # the final dot was written to the connection
        self.log: list[LogEntry] = []  # for the record of an attempt that is not accepted
        self._data = len(plan.recipients) + 1
        self._dot = self._data + 1
        self._accepted: list[str] = []
        self._refused: list[Refused] = list(plan.refused)
        self._refusal: Rejected | None = None  # of the whole transaction
        self._reply: Reply | None = None  # to the final dot, when it was 250

    def begin(self, *, with_reset: bool = False) -> tuple[bytes, ...]:
        """Return the commands that are written first, behind RSET if it is needed; record them."""
        commands = self.plan.commands if self.grouped else self.plan.commands[:1]
        if with_reset:
            commands = (RESET, *commands) if self.grouped else (RESET,)
        self.log.append((self.started, commands))
        return commands

    @property
    def needs_reset(self) -> bool:
        """Return whether the server still has an unfinished transaction: RSET must come first."""
        return 1 < self.step <= self._dot and not self.handed_over

    @property
    def has_refusal(self) -> bool:
        """Return whether the server has refused any command so far."""
        return self._refusal is not None or len(self._refused) > len(self.plan.refused)

    @property
    def stage(self) -> Stage:
        """Return the stage that the transaction has reached."""
        if self.step == 0:
            return Stage.MAIL
        if self.step < self._data:
            return Stage.RCPT
        return Stage.DOT if self.step == self._dot and self.handed_over else Stage.DATA

    def take(self, reply: Reply) -> NextStep:
        """Read the next expected reply and return what to do."""
        code, step = reply.code, self.step
        if code == CLOSING:
            self._close(reply)
            self.then = then = NextStep.CLOSING
            return then
        if step == 0:
            then = GO_ON if code == 250 else self._take_mail_refused(reply)
        elif step < self._data:
            then = self._take_rcpt(reply)
        elif step == self._data:
            then = self._take_data(reply)
        else:
            then = self._take_dot(reply)
        self.step = step + (then is not BROKEN)
        self.then = then
        return then

    def verdict(self) -> Verdict:
        """Return the verdict of the replies so far; call it after DONE or CLOSING."""
        reply = self._reply
        if reply is not None:
            detail = reply.detail()
            return Accepted(
                str(reply.code),
                detail,
                enhanced=enhanced_code(reply.code, detail),
                refused=tuple(self._refused),
            )
        why = self._refusal
        if why is not None:
            answered = len(self._refused) + len(self._accepted)
            if not self._refused or answered < len(self.plan.mail.envelope.recipients):
                return why
            rest = (Refused(address, why) for address in self._accepted)
            return AllRefused((*self._refused, *rest))
        if len(self.plan.mail.envelope.recipients) == 1:
            return self._refused[0].why
        return AllRefused(tuple(self._refused))

    def verdict_when_lost(self, why: str, *, trusted: bool, stage: Stage | None = None) -> Verdict:
        """Return the verdict if the connection ended before the final reply.

        `trusted` is true if the replies so far matched the commands, so that refusals among them
        count.
        """
        if self.handed_over:
            return Rejected(Fault.AMBIGUOUS, "", why, Stage.DOT)
        if trusted and (self._refusal or (not self._accepted and self.step >= self._data)):
            return self.verdict()
        return Rejected(Fault.TRANSIENT, "", why, stage or self.stage)

    def _take_mail_refused(self, reply: Reply) -> NextStep:
        if reply.code < 400:
            return BROKEN
        self._refusal = self._refuse(Stage.MAIL, reply)
        return GO_ON if self.grouped else NextStep.DONE

    def _take_rcpt(self, reply: Reply) -> NextStep:
        if self._refusal is not None:
            return GO_ON  # RFC 5321: without MAIL every RCPT is refused; the reply says nothing new
        address = self.plan.recipients[self.step - 1]
        if reply.code in RECIPIENT_OK:
            self._accepted.append(address)
            return GO_ON
        if reply.code < 400:
            return BROKEN
        self._refused.append(Refused(address, self._refuse(Stage.RCPT, reply)))
        is_last = self.step == self._data - 1
        return NextStep.DONE if is_last and not self._accepted and not self.grouped else GO_ON

    def _take_data(self, reply: Reply) -> NextStep:
        if reply.code == 354:
            if self._accepted:
                return NextStep.BODY
            # MAIL was refused but DATA was not: a final dot might deliver an empty message.
            return BROKEN if self._refusal else NextStep.LONE_DOT
        if reply.code < 400:
            return BROKEN
        if self._accepted:
            self._refusal = self._refuse(Stage.DATA, reply)
        return NextStep.DONE

    def _take_dot(self, reply: Reply) -> NextStep:
        if not self._accepted:
            return NextStep.DONE  # to a final dot without recipients
        if reply.code == 250:
            self._reply = reply
        elif reply.code < 400:
            return BROKEN
        else:
            self._refusal = self._refuse(Stage.DOT, reply)
        return NextStep.DONE

    def _end(self, reply: Reply) -> None:
        self._reply = reply
        self.step += 1
        self.then = NextStep.DONE

    def _go_ahead(self) -> None:
        self._accepted.append(self.plan.recipients[0])
        self.step = self._dot
        self.then = NextStep.BODY

    def _close(self, reply: Reply) -> None:
        """Read a 421: the email was not accepted; refusals of recipients already read count."""
        if self._refusal is None and (self._accepted or self.step < self._data):
            self._refusal = self._refuse(self.stage, reply)

    def _refuse(self, stage: Stage, reply: Reply) -> Rejected:
        detail = reply.detail()
        code = reply.code
        count = max(1, len(self._accepted))
        return classify(stage, code, enhanced_code(code, detail), detail, recipients=count)


def take_all(
    turn: MailTransaction, ahead: MailTransaction, data: bytes, received_at: float = 0.0
) -> bool:
    """Read these bytes if they are the four replies that end one email and let the next follow.

    `turn` has been handed over, `ahead` is a group with one recipient, and none of the four was
    read. Same result as reading them one by one, and several times faster; any other bytes are left
    unread.
    """
    found = _ALL_TAKEN.fullmatch(data)
    if found is None:
        return False
    reply = Reply(250, found[1])
    turn.log.append((received_at, reply))
    turn._end(reply)
    ahead.log.append((received_at, ReadAhead(data)))
    ahead._go_ahead()
    return True
