"""Decides what each command of a client does and what is answered: the state of one session.

RFC 5321 with PIPELINING, 8BITMIME, SMTPUTF8, SIZE, ENHANCEDSTATUSCODES, STARTTLS and AUTH.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mailqueue.smtp.server import answer as server_answer
from mailqueue.smtp.server import login, violations
from mailqueue.smtp.server.answer import CLOSING, SmtpReply
from mailqueue.smtp.server.commands import read_mail, read_rcpt
from mailqueue.smtp.server.handler import LoggedIn, LoginAttempt, Received, SmtpService
from mailqueue.smtp.server.replies import ReplyQueue

SENDER_OK = b"250 2.1.0 sender ok\r\n"
RECIPIENT_OK = b"250 2.1.5 recipient ok\r\n"
GO_AHEAD = b"354 end with <CR><LF>.<CR><LF>\r\n"
FLUSHED = b"250 2.0.0 ok\r\n"


class ServerSession:
    """What one client has said so far; its answers go into the connection's queue."""

    def __init__(self, service: SmtpService, replies: ReplyQueue) -> None:
        self._service = service
        self._limits = service.limits
        self._replies = replies
        self.is_in_message = False  # a message follows, not a command
        self.is_ending = False  # nothing more is read; the connection ends when all is answered
        self.is_logging_in = False  # the next line must wait for the verdict
        self.is_securing = False  # the next byte is TLS's
        self.is_secure = False
        self.address = ""  # the client's
        self.most_bytes = service.limits.message_bytes
        self.asked: login.Asked | None = None
        self._login = ""
        self._who: object = None
        self._idle_commands = 0
        self._failed_logins = 0
        self._errors = 0
        self._has_greeted = False
        self._sender: str | None = None
        self._needs_smtputf8 = False
        self._recipients: list[str] = []
        self._is_incomplete = False  # a recipient beyond the bound was refused

    @property
    def is_stranger(self) -> bool:
        """Return whether this client still has to log in."""
        return self._service.authenticate is not None and not self._login

    def secured(self) -> None:
        """Forget all that was said in clear (RFC 3207 section 4.2)."""
        self.is_securing = False
        self.is_secure = True
        self._has_greeted = False
        self._login, self._who = "", None
        self.most_bytes = self._limits.message_bytes
        self._reset()

    def greet(self) -> None:
        """Send the greeting."""
        self._replies.say(f"220 {self._service.hostname} ESMTP mailqueue\r\n".encode())

    def say(self, answer: SmtpReply) -> None:
        """Answer; code 421 ends the session."""
        self._replies.say(answer.line())
        if answer.code == CLOSING:
            self.is_ending = True

    def give_up(self, answer: SmtpReply) -> None:
        """Answer and end the session: reading on would be guessing."""
        self.say(answer)
        self.is_ending = True

    def take_message(self, raw: bytes | None) -> None:
        """Hand over the message that has ended; None is one that was too big to keep."""
        envelope = Received(
            self._sender or "",
            tuple(self._recipients),
            self._needs_smtputf8,
            self._login,
            self._who,
        )
        self.is_in_message = False
        self._idle_commands = 0
        self._reset()
        objection = (
            server_answer.TOO_BIG if raw is None else violations.objection(raw, self._limits)
        )
        if objection is not None:
            self.say(objection)
        elif raw is not None:
            self._replies.wait_for(self._service.handler.accept(envelope, raw), size=len(raw))

    def take_line(self, line: bytes, *, is_last: bool) -> None:
        """Act on one line, its CR LF taken off; `is_last`: nothing came behind it so far."""
        if self.asked is not None:
            self._take_step(login.go_on(self.asked, line))
            return
        if b"\r" in line or b"\0" in line:
            self._object(server_answer.SYNTAX)
            return
        verb, _, argument = line.partition(b" ")
        act = COMMANDS.get(verb) or COMMANDS.get(verb.upper())
        impatient = None if is_last else violations.too_early(verb.upper(), self._limits)
        if impatient is not None:
            self.give_up(impatient)
        elif self._is_idling(verb.upper()):
            self.say(server_answer.TOO_MANY_ERRORS)
        elif act is not None:
            act(self, argument)
        elif verb in violations.HTTP_METHODS:
            self.say(server_answer.NOT_HTTP)
        else:
            self._object(server_answer.UNKNOWN)

    def _object(self, answer: SmtpReply) -> None:
        """Answer what should not have been sent; too much of it ends the session."""
        self.say(answer)
        self._errors += 1
        if self._errors > self._limits.errors and not self.is_ending:
            self.say(server_answer.TOO_MANY_ERRORS)

    def _is_idling(self, verb: bytes) -> bool:
        most = self._limits.idle_commands
        if most is None or verb not in violations.IDLE_COMMANDS:
            return False
        self._idle_commands += 1
        return self._idle_commands > most

    def _reset(self) -> None:
        self._sender = None
        self._recipients = []
        self._is_incomplete = False

    def _helo(self, argument: bytes) -> None:
        if not argument.strip():
            self._object(server_answer.BAD_ARGUMENT)
            return
        self._reset()
        self._has_greeted = True
        self._replies.say(f"250 {self._service.hostname}\r\n".encode())

    def _ehlo(self, argument: bytes) -> None:
        if not argument.strip():
            self._object(server_answer.BAD_ARGUMENT)
            return
        self._reset()
        self._has_greeted = True
        offers = [self._service.hostname, *violations.offers(self._limits, self.most_bytes)]
        if self._service.tls is not None and not self.is_secure:
            offers.append("STARTTLS")
        if self._service.authenticate is not None and self._may_log_in():
            offers.append(f"AUTH {login.MECHANISMS}")
        lines = [f"250-{offer}\r\n" for offer in offers[:-1]]
        self._replies.say("".join([*lines, f"250 {offers[-1]}\r\n"]).encode())

    def _mail(self, argument: bytes) -> None:
        if not self._has_greeted or self._sender is not None:
            self._object(server_answer.OUT_OF_ORDER)
            return
        if self.is_stranger:
            is_ready = self._may_log_in()
            self._object(server_answer.NEEDS_LOGIN if is_ready else server_answer.NEEDS_TLS)
            return
        found = read_mail(argument, max_bytes=self.most_bytes)
        if isinstance(found, SmtpReply):
            self._object(found)
            return
        self._sender = found.sender
        self._needs_smtputf8 = found.needs_smtputf8
        self._replies.say(SENDER_OK)

    def _rcpt(self, argument: bytes) -> None:
        if self._sender is None:
            self._object(server_answer.OUT_OF_ORDER)
        elif len(self._recipients) >= self._limits.recipients:
            self._is_incomplete = True
            self.say(server_answer.TOO_MANY_RECIPIENTS)
        else:
            address = read_rcpt(argument, needs_smtputf8=self._needs_smtputf8)
            if isinstance(address, SmtpReply):
                self._object(address)
                return
            refusal = self._service.handler.check_recipient(address)
            if refusal is not None:
                self.say(refusal)
                return
            self._recipients.append(address)
            self._replies.say(RECIPIENT_OK)

    def _data(self, argument: bytes) -> None:
        if argument:
            self._object(server_answer.BAD_ARGUMENT)
        elif self._sender is None:
            self._object(server_answer.OUT_OF_ORDER)
        elif not self._recipients:
            self._object(server_answer.NO_RECIPIENT)
        elif self._is_incomplete and self._limits.refuses_incomplete:
            # Programs report success when some were taken. Some send no RSET after a refused DATA.
            self._reset()
            self.say(server_answer.INCOMPLETE)
        else:
            self._replies.say(GO_AHEAD)
            self.is_in_message = True

    def _rset(self, argument: bytes) -> None:  # noqa: ARG002
        self._reset()
        self._replies.say(FLUSHED)

    def _noop(self, argument: bytes) -> None:  # noqa: ARG002
        self._replies.say(FLUSHED)

    def _vrfy(self, argument: bytes) -> None:  # noqa: ARG002
        self._replies.say(b"252 2.1.5 send some mail and see\r\n")

    def _help(self, argument: bytes) -> None:  # noqa: ARG002
        self._replies.say(b"214 2.0.0 see RFC 5321\r\n")

    def _quit(self, argument: bytes) -> None:  # noqa: ARG002
        self._replies.say(b"221 2.0.0 bye\r\n")
        self.is_ending = True

    def _auth(self, argument: bytes) -> None:
        if self._service.authenticate is None:
            self._object(server_answer.UNKNOWN)
        elif not self._has_greeted or self._login or self._sender is not None:
            self._object(server_answer.OUT_OF_ORDER)
        elif not self._may_log_in():
            self._object(server_answer.NEEDS_TLS_TO_LOG_IN)
        else:
            self._take_step(login.begin(argument))

    def _may_log_in(self) -> bool:
        """Return whether a password may go over this connection."""
        return self._service.tls is None or self.is_secure or login.is_on_this_machine(self.address)

    def _starttls(self, argument: bytes) -> None:
        if self._service.tls is None:
            self._object(server_answer.UNKNOWN)
        elif argument:
            self._object(server_answer.BAD_ARGUMENT)
        elif self.is_secure:
            self._object(server_answer.OUT_OF_ORDER)
        else:
            self.say(server_answer.TLS_READY)
            self.is_securing = True

    def _take_step(self, step: login.Step) -> None:
        self.asked = None
        match step:
            case login.Asked():
                self.asked = step
                self._replies.say(step.line())
            case SmtpReply():
                self._object(step)
            case login.Given():
                self.is_logging_in = True
                self._replies.wait_for(self._log_in(step))

    async def _log_in(self, given: login.Given) -> SmtpReply:
        authenticate = self._service.authenticate
        assert authenticate is not None  # else AUTH is unknown
        try:
            found = await authenticate(LoginAttempt(given.name, given.password, self.address))
        finally:
            self.is_logging_in = False
        if isinstance(found, LoggedIn):
            self._login = given.name or "-"
            self._who = found.who
            self.most_bytes = min(
                self._limits.message_bytes, found.message_bytes or self._limits.message_bytes
            )
            return server_answer.LOGGED_IN
        self._failed_logins += 1
        is_last = self._failed_logins >= self._limits.logins
        return server_answer.TOO_MANY_LOGINS if is_last else found


COMMANDS: Mapping[bytes, Callable[[ServerSession, bytes], None]] = MappingProxyType(
    {
        b"EHLO": ServerSession._ehlo,
        b"HELO": ServerSession._helo,
        b"MAIL": ServerSession._mail,
        b"RCPT": ServerSession._rcpt,
        b"DATA": ServerSession._data,
        b"RSET": ServerSession._rset,
        b"NOOP": ServerSession._noop,
        b"VRFY": ServerSession._vrfy,
        b"HELP": ServerSession._help,
        b"AUTH": ServerSession._auth,
        b"STARTTLS": ServerSession._starttls,
        b"QUIT": ServerSession._quit,
    }
)
