"""The interface between the SMTP server and what decides about the mail; limits. Values."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Protocol

from mailqueue.smtp.server.answer import SmtpReply


@dataclass(frozen=True, slots=True)
class ReceivedEnvelope:
    """The envelope of one message; `login` is "" if the client did not log in.

    `client` is the value that `Authenticate` returned for the client.
    """

    sender: str
    recipients: tuple[str, ...]
    needs_smtputf8: bool
    login: str
    client: object = None


class MessageHandler(Protocol):
    """Decides what is done with received mail; needs no knowledge of SMTP."""

    def check_recipient(self, address: str) -> SmtpReply | None:
        """Return a refusal of this recipient, or None to accept it. Must not block."""
        ...

    async def accept(self, envelope: ReceivedEnvelope, raw: bytes) -> SmtpReply | None:
        """Accept one message and return the reply to its final dot; None closes without a reply.

        `raw` is the message without dot-stuffing. It is called for the next message of a connection
        while earlier calls still run; replies are sent in order.
        """
        ...


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """A user name and password, and the client's IP address."""

    name: str
    password: str = field(repr=False)
    address: str = ""


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """An authenticated client; `message_bytes` is its message limit, None for the server's.

    `leave` is called once, when the client's connection ends or begins TLS.
    """

    client: object = None
    message_bytes: int | None = None
    leave: Callable[[], None] | None = None


Authenticate = Callable[[LoginAttempt], Awaitable[LoggedIn | SmtpReply]]
"""Checks a user name and password; exceptions are answered with a 451."""


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Limits for one client, and the number of clients."""

    message_bytes: int = 50 * 1024 * 1024
    recipients: int = 1_000
    refuses_incomplete: bool = False  # a message with recipients refused beyond that limit
    connections: int = 1_000
    connections_per_address: int | None = None
    waiting: int = 200  # messages of one connection without a reply yet
    command_bytes: int = 2_048  # RFC 5321 requires 512; extensions add to it
    text_line_bytes: int | None = None  # without CR LF; None: no limit but the message's
    refuses_bare_ends: bool = False  # bare CR or LF, and NUL, in a message
    refuses_early_commands: bool = (
        False  # commands sent after one that must end its group (RFC 2920)
    )
    errors: int = 20
    idle_commands: int | None = None  # NOOP, RSET and similar between two messages
    logins: int = 3  # failed logins
    idle_s: float = 300.0  # RFC 5321 section 4.5.3.2.7
    login_s: float | None = None  # seconds to log in
    message_s: float | None = None  # seconds for a message to be received
    min_bytes_per_s: int = 0  # of a message, after `grace_s`
    grace_s: float = 60.0
    handshake_s: float = 30.0
    drain_s: float = 5.0  # for pending replies when the server stops


@dataclass(frozen=True, slots=True)
class SmtpService:
    """Values that all connections of one server share."""

    handler: MessageHandler
    limits: ServerLimits
    hostname: str
    authenticate: Authenticate | None  # None: no login, every client may send
    tls: SSLContext | None = None  # for STARTTLS
    takes_lmtp: bool = False  # from clients that send LHLO
