"""What our SMTP server asks of whoever decides about the mail, and what it allows. Values."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from mailqueue.smtp.server_answer import Answer


@dataclass(frozen=True, slots=True)
class Received:
    """The envelope of one message as the client gave it; `login` is "" where nobody logged in."""

    sender: str
    recipients: tuple[str, ...]
    needs_smtputf8: bool
    login: str


class Handler(Protocol):
    """Decides what becomes of mail; knows nothing of the protocol."""

    def check_recipient(self, address: str) -> Answer | None:
        """Give the refusal of this recipient, or None to take it. Must not wait."""
        ...

    async def accept(self, envelope: Received, raw: bytes) -> Answer | None:
        """Take one message and answer its final dot; None hangs up without an answer.

        `raw` is the message as sent, dots unstuffed. Called for the next message of a connection
        while this one still waits; the answers go out in order all the same.
        """
        ...


Authenticate = Callable[[str, str], Awaitable[bool]]
"""Says whether this name and password may send."""


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """What one client may do, and how many there may be."""

    message_bytes: int = 50 * 1024 * 1024
    recipients: int = 1_000
    connections: int = 1_000
    waiting: int = 200  # messages of one connection that wait for their answer
    command_bytes: int = 2_048  # RFC 5321 says 512, extensions add to it
    text_line_bytes: int | None = None  # without CR LF; None: as long as the message
    errors: int = 20
    logins: int = 3  # failed ones
    idle_s: float = 300.0  # RFC 5321 section 4.5.3.2.7
    drain_s: float = 5.0  # for what waits when the server stops


@dataclass(frozen=True, slots=True)
class Service:
    """What all connections of one server share."""

    handler: Handler
    limits: ServerLimits
    hostname: str
    authenticate: Authenticate | None  # None: nobody logs in, everybody may send
