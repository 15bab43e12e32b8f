"""Decides what each command of a client does and what is answered: the state of one session.

RFC 5321 with PIPELINING, 8BITMIME, SMTPUTF8, SIZE, ENHANCEDSTATUSCODES and AUTH.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mailqueue.smtp import server_answer, server_login
from mailqueue.smtp.server_answer import CLOSING, Answer
from mailqueue.smtp.server_commands import read_mail, read_rcpt
from mailqueue.smtp.server_handler import Received, Service
from mailqueue.smtp.server_replies import ReplyQueue

SENDER_OK = b"250 2.1.0 sender ok\r\n"
RECIPIENT_OK = b"250 2.1.5 recipient ok\r\n"
GO_AHEAD = b"354 end with <CR><LF>.<CR><LF>\r\n"
FLUSHED = b"250 2.0.0 ok\r\n"
# A browser made to talk to us would have its request's body read as commands.
HTTP_METHODS = frozenset({b"GET", b"POST", b"PUT", b"HEAD", b"OPTIONS", b"CONNECT", b"PATCH"})


class ServerSession:
    """What one client has said so far; its answers go into the connection's queue."""

    def __init__(self, service: Service, replies: ReplyQueue) -> None:
        self._service = service
        self._limits = service.limits
        self._replies = replies
        self.is_in_message = False  # a message follows, not a command
        self.is_ending = False  # nothing more is read; the connection ends when all is answered
        self.is_logging_in = False  # the next line must wait for the verdict
        self.asked: server_login.Asked | None = None
        self._login = ""
        self._failed_logins = 0
        self._errors = 0
        self._has_greeted = False
        self._sender: str | None = None
        self._needs_smtputf8 = False
        self._recipients: list[str] = []

    def greet(self) -> None:
        """Say who we are."""
        self._replies.say(f"220 {self._service.hostname} ESMTP mailqueue\r\n".encode())

    def say(self, answer: Answer) -> None:
        """Answer; code 421 ends the session."""
        self._replies.say(answer.line())
        if answer.code == CLOSING:
            self.is_ending = True

    def give_up(self, answer: Answer) -> None:
        """Answer and end the session: reading on would be guessing."""
        self.say(answer)
        self.is_ending = True

    def take_message(self, raw: bytes | None) -> None:
        """Hand over the message that has ended; None is one that was too big to keep."""
        envelope = Received(
            self._sender or "", tuple(self._recipients), self._needs_smtputf8, self._login
        )
        self.is_in_message = False
        self._reset()
        if raw is None:
            self.say(server_answer.TOO_BIG)
        elif self._has_long_line(raw):
            self.say(server_answer.TEXT_LINE_TOO_LONG)
        else:
            self._replies.wait_for(self._service.handler.accept(envelope, raw), size=len(raw))

    def take_line(self, line: bytes) -> None:
        """Act on one line, its CR LF taken off."""
        if self.asked is not None:
            self._take_step(server_login.go_on(self.asked, line))
            return
        if b"\r" in line or b"\0" in line:
            self._object(server_answer.SYNTAX)
            return
        verb, _, argument = line.partition(b" ")
        act = COMMANDS.get(verb) or COMMANDS.get(verb.upper())
        if act is not None:
            act(self, argument)
        elif verb in HTTP_METHODS:
            self.say(server_answer.NOT_HTTP)
        else:
            self._object(server_answer.UNKNOWN)

    def _object(self, answer: Answer) -> None:
        """Answer what should not have been sent; too much of it ends the session."""
        self.say(answer)
        self._errors += 1
        if self._errors > self._limits.errors and not self.is_ending:
            self.say(server_answer.TOO_MANY_ERRORS)

    def _has_long_line(self, raw: bytes) -> bool:
        most = self._limits.text_line_bytes
        return most is not None and max(map(len, raw.split(b"\r\n"))) > most

    def _reset(self) -> None:
        self._sender = None
        self._recipients = []

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
        offers = [
            self._service.hostname,
            "PIPELINING",
            "8BITMIME",
            "SMTPUTF8",
            f"SIZE {self._limits.message_bytes}",
            "ENHANCEDSTATUSCODES",
        ]
        if self._service.authenticate is not None:
            offers.append(f"AUTH {server_login.MECHANISMS}")
        lines = [f"250-{offer}\r\n" for offer in offers[:-1]]
        self._replies.say("".join([*lines, f"250 {offers[-1]}\r\n"]).encode())

    def _mail(self, argument: bytes) -> None:
        if not self._has_greeted or self._sender is not None:
            self._object(server_answer.OUT_OF_ORDER)
            return
        if self._service.authenticate is not None and not self._login:
            self._object(server_answer.NEEDS_LOGIN)
            return
        found = read_mail(argument, max_bytes=self._limits.message_bytes)
        if isinstance(found, Answer):
            self._object(found)
            return
        self._sender = found.sender
        self._needs_smtputf8 = found.needs_smtputf8
        self._replies.say(SENDER_OK)

    def _rcpt(self, argument: bytes) -> None:
        if self._sender is None:
            self._object(server_answer.OUT_OF_ORDER)
        elif len(self._recipients) >= self._limits.recipients:
            self.say(server_answer.TOO_MANY_RECIPIENTS)
        else:
            address = read_rcpt(argument, needs_smtputf8=self._needs_smtputf8)
            if isinstance(address, Answer):
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
        else:
            self._take_step(server_login.begin(argument))

    def _take_step(self, step: server_login.Step) -> None:
        self.asked = None
        match step:
            case server_login.Asked():
                self.asked = step
                self._replies.say(step.line())
            case Answer():
                self._object(step)
            case server_login.Given():
                self.is_logging_in = True
                self._replies.wait_for(self._log_in(step))

    async def _log_in(self, given: server_login.Given) -> Answer:
        authenticate = self._service.authenticate
        try:
            is_right = authenticate is not None and await authenticate(given.name, given.password)
        finally:
            self.is_logging_in = False
        if is_right:
            self._login = given.name or "-"
            return server_answer.LOGGED_IN
        self._failed_logins += 1
        is_last = self._failed_logins >= self._limits.logins
        return server_answer.TOO_MANY_LOGINS if is_last else server_answer.LOGIN_REFUSED


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
        b"QUIT": ServerSession._quit,
    }
)
