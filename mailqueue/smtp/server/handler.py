"""What our SMTP server asks of whoever decides about the mail, and what it allows. Values."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Protocol

from mailqueue.smtp.server.answer import SmtpReply


@dataclass(frozen=True, slots=True)
class Received:
    """The envelope of one message as the client gave it; `login` is "" where nobody logged in.

    `who` is what the login said of the client.
    """

    sender: str
    recipients: tuple[str, ...]
    needs_smtputf8: bool
    login: str
    who: object = None


class Handler(Protocol):
    """Decides what becomes of mail; knows nothing of the protocol."""

    def check_recipient(self, address: str) -> SmtpReply | None:
        """Return the refusal of this recipient, or None to take it. Must not wait."""
        ...

    async def accept(self, envelope: Received, raw: bytes) -> SmtpReply | None:
        """Take one message and answer its final dot; None hangs up without an answer.

        `raw` is the message as sent, dots unstuffed. Called for the next message of a connection
        while this one still waits; the answers go out in order all the same.
        """
        ...


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """A name and a password, and from which address they came."""

    name: str
    password: str = field(repr=False)
    address: str = ""


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """Who may send; `message_bytes` is how large their messages may be, None: as all."""

    who: object = None
    message_bytes: int | None = None


Authenticate = Callable[[LoginAttempt], Awaitable[LoggedIn | SmtpReply]]
"""Checks a login; raises for a refusal."""


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """What one client may do, and how many there may be."""

    message_bytes: int = 50 * 1024 * 1024
    recipients: int = 1_000
    refuses_incomplete: bool = False  # a message of which recipients beyond that bound were refused
    connections: int = 1_000
    connections_per_address: int | None = None
    waiting: int = 200  # messages of one connection that wait for their answer
    command_bytes: int = 2_048  # RFC 5321 says 512, extensions add to it
    text_line_bytes: int | None = None  # without CR LF; None: as long as the message
    refuses_bare_ends: bool = False  # CR or LF alone, and NUL, in a message
    refuses_early_talk: bool = False  # commands behind one that must be the last of a group
    errors: int = 20
    idle_commands: int | None = None  # NOOP, RSET and the like between two messages
    logins: int = 3  # failed ones
    idle_s: float = 300.0  # RFC 5321 section 4.5.3.2.7
    stranger_s: float | None = None  # to log in
    message_s: float | None = None  # for a message to arrive
    least_bytes_per_s: int = 0  # of a message, after `grace_s`
    grace_s: float = 60.0
    handshake_s: float = 30.0
    drain_s: float = 5.0  # for what waits when the server stops


@dataclass(frozen=True, slots=True)
class SmtpService:
    """What all connections of one server share."""

    handler: Handler
    limits: ServerLimits
    hostname: str
    authenticate: Authenticate | None  # None: nobody logs in, everybody may send
    tls: SSLContext | None = None  # for STARTTLS
    takes_lmtp: bool = False  # from clients that say LHLO
