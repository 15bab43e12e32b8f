"""Executes the commands of a client and queues the replies: the state of one session.

RFC 5321 with PIPELINING, 8BITMIME, SMTPUTF8, SIZE, ENHANCEDSTATUSCODES, STARTTLS and AUTH.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mailqueue.smtp.server import accepting, login, violations
from mailqueue.smtp.server import answer as server_answer
from mailqueue.smtp.server.answer import CLOSING, SmtpReply
from mailqueue.smtp.server.commands import read_mail, read_rcpt
from mailqueue.smtp.server.handler import ReceivedEnvelope, SmtpService
from mailqueue.smtp.server.logged_in import SessionLogin
from mailqueue.smtp.server.replies import ReplyQueue

SENDER_OK = b"250 2.1.0 sender ok\r\n"
RECIPIENT_OK = b"250 2.1.5 recipient ok\r\n"
GO_AHEAD = b"354 end with <CR><LF>.<CR><LF>\r\n"
FLUSHED = b"250 2.0.0 ok\r\n"


class ServerSession:
    """The state of one client's session; replies are put into the connection's queue."""

    def __init__(self, service: SmtpService, replies: ReplyQueue) -> None:
        self._service = service
        self._limits = service.limits
        self._replies = replies
        self.is_in_message = False  # the next bytes are a message, not a command
        self.is_ending = False  # nothing more is read; the connection closes after the last reply
        self.is_logging_in = False  # the next line waits for the result of the login
        self.is_securing = False  # the next byte begins a TLS handshake
        self.is_secure = False
        self.address = ""  # the client's IP address
        self.challenge: login.Challenge | None = None
        self._login = SessionLogin(service)
        self._idle_commands = 0
        self._errors = 0
        self._has_greeted = False
        self._sender: str | None = None
        self._needs_smtputf8 = False
        self._recipients: list[str] = []
        self._is_incomplete = False  # a recipient beyond the limit was refused

    @property
    def must_log_in(self) -> bool:
        """Return whether this client still has to log in."""
        return self._service.authenticate is not None and not self._login.name

    @property
    def max_bytes(self) -> int:
        """Return the limit of this client's messages, in bytes."""
        return self._login.max_bytes

    def secured(self) -> None:
        """Discard everything received before TLS (RFC 3207 section 4.2)."""
        self.is_securing = False
        self.is_secure = True
        self._has_greeted = False
        self._login.forget()
        self._reset()

    def ended(self) -> None:
        """Release what the client's login holds: its connection is closed."""
        self._login.end()

    def greet(self) -> None:
        """Queue the greeting."""
        self._replies.add(f"220 {self._service.hostname} ESMTP mailqueue\r\n".encode())

    def reply(self, answer: SmtpReply) -> None:
        """Queue a reply; code 421 ends the session."""
        self._replies.add(answer.line())
        if answer.code == CLOSING:
            self.is_ending = True

    def give_up(self, answer: SmtpReply) -> None:
        """Queue a reply and end the session: further bytes cannot be interpreted reliably."""
        self.reply(answer)
        self.is_ending = True

    def take_message(self, raw: bytes | None) -> None:
        """Hand over a received message; None stands for one that was too large to keep."""
        envelope = ReceivedEnvelope(
            self._sender or "",
            tuple(self._recipients),
            self._needs_smtputf8,
            self._login.name,
            self._login.client,
        )
        self.is_in_message = False
        self._idle_commands = 0
        self._reset()
        if raw is None:
            self.reply(server_answer.TOO_BIG)
        else:
            self._replies.wait_for(accepting.accept(self._service, envelope, raw), size=len(raw))

    def take_line(self, line: bytes, *, is_last: bool) -> None:
        """Execute one line without its CR LF; `is_last` is true if no bytes follow it yet."""
        if self.challenge is not None:
            self._take_step(login.resume(self.challenge, line))
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
            self.reply(server_answer.TOO_MANY_ERRORS)
        elif act is not None:
            act(self, argument)
        elif verb in violations.HTTP_METHODS:
            self.reply(server_answer.NOT_HTTP)
        else:
            self._object(server_answer.UNKNOWN)

    def _object(self, answer: SmtpReply) -> None:
        """Queue an error reply; too many errors end the session."""
        self.reply(answer)
        self._errors += 1
        if self._errors > self._limits.errors and not self.is_ending:
            self.reply(server_answer.TOO_MANY_ERRORS)

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
        self._replies.add(f"250 {self._service.hostname}\r\n".encode())

    def _ehlo(self, argument: bytes) -> None:
        if not argument.strip():
            self._object(server_answer.BAD_ARGUMENT)
            return
        self._reset()
        self._has_greeted = True
        offers = [self._service.hostname, *violations.offers(self._limits, self.max_bytes)]
        if self._service.tls is not None and not self.is_secure:
            offers.append("STARTTLS")
        if self._service.authenticate is not None and self._may_log_in():
            offers.append(f"AUTH {login.MECHANISMS}")
        lines = [f"250-{offer}\r\n" for offer in offers[:-1]]
        self._replies.add("".join([*lines, f"250 {offers[-1]}\r\n"]).encode())

    def _mail(self, argument: bytes) -> None:
        if not self._has_greeted or self._sender is not None:
            self._object(server_answer.OUT_OF_ORDER)
            return
        if self.must_log_in:
            is_ready = self._may_log_in()
            self._object(server_answer.NEEDS_LOGIN if is_ready else server_answer.NEEDS_TLS)
            return
        found = read_mail(argument, max_bytes=self.max_bytes)
        if isinstance(found, SmtpReply):
            self._object(found)
            return
        self._sender = found.sender
        self._needs_smtputf8 = found.needs_smtputf8
        self._replies.add(SENDER_OK)

    def _rcpt(self, argument: bytes) -> None:
        if self._sender is None:
            self._object(server_answer.OUT_OF_ORDER)
        elif len(self._recipients) >= self._limits.recipients:
            self._is_incomplete = True
            self.reply(server_answer.TOO_MANY_RECIPIENTS)
        else:
            address = read_rcpt(argument, needs_smtputf8=self._needs_smtputf8)
            if isinstance(address, SmtpReply):
                self._object(address)
                return
            refusal = self._service.handler.check_recipient(address)
            if refusal is not None:
                self.reply(refusal)
                return
            self._recipients.append(address)
            self._replies.add(RECIPIENT_OK)

    def _data(self, argument: bytes) -> None:
        if argument:
            self._object(server_answer.BAD_ARGUMENT)
        elif self._sender is None:
            self._object(server_answer.OUT_OF_ORDER)
        elif not self._recipients:
            self._object(server_answer.NO_RECIPIENT)
        elif self._is_incomplete and self._limits.refuses_incomplete:
            # Many clients report success if some recipients were accepted, and some send no RSET
            # after a refused DATA.
            self._reset()
            self.reply(server_answer.INCOMPLETE)
        else:
            self._replies.add(GO_AHEAD)
            self.is_in_message = True

    def _rset(self, argument: bytes) -> None:  # noqa: ARG002
        self._reset()
        self._replies.add(FLUSHED)

    def _noop(self, argument: bytes) -> None:  # noqa: ARG002
        self._replies.add(FLUSHED)

    def _vrfy(self, argument: bytes) -> None:  # noqa: ARG002
        self._replies.add(b"252 2.1.5 cannot VRFY user, but will accept message\r\n")

    def _help(self, argument: bytes) -> None:  # noqa: ARG002
        self._replies.add(b"214 2.0.0 see RFC 5321\r\n")

    def _quit(self, argument: bytes) -> None:  # noqa: ARG002
        self._replies.add(b"221 2.0.0 bye\r\n")
        self.is_ending = True

    def _auth(self, argument: bytes) -> None:
        if self._service.authenticate is None:
            self._object(server_answer.UNKNOWN)
        elif not self._has_greeted or self._login.name or self._sender is not None:
            self._object(server_answer.OUT_OF_ORDER)
        elif not self._may_log_in():
            self._object(server_answer.NEEDS_TLS_TO_LOG_IN)
        else:
            self._take_step(login.begin(argument))

    def _may_log_in(self) -> bool:
        """Return whether a password may be sent on this connection."""
        return self._service.tls is None or self.is_secure or login.is_on_this_machine(self.address)

    def _starttls(self, argument: bytes) -> None:
        if self._service.tls is None:
            self._object(server_answer.UNKNOWN)
        elif argument:
            self._object(server_answer.BAD_ARGUMENT)
        elif self.is_secure:
            self._object(server_answer.OUT_OF_ORDER)
        else:
            self.reply(server_answer.TLS_READY)
            self.is_securing = True

    def _take_step(self, step: login.LoginStep) -> None:
        self.challenge = None
        match step:
            case login.Challenge():
                self.challenge = step
                self._replies.add(step.line())
            case SmtpReply():
                self._object(step)
            case login.NameAndPassword():
                self.is_logging_in = True
                self._replies.wait_for(self._log_in(step))

    async def _log_in(self, credentials: login.NameAndPassword) -> SmtpReply:
        try:
            return await self._login.attempt(credentials, self.address)
        finally:
            self.is_logging_in = False


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
