"""Reads what a client says in AUTH PLAIN and AUTH LOGIN. Pure; RFC 4616, RFC 4954."""

import base64
import binascii
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple

from mailqueue.smtp.server import answer
from mailqueue.smtp.server.answer import SmtpReply

MECHANISMS = "PLAIN LOGIN"
LINE_BYTES = 12_288  # RFC 4954 section 4


class Given(NamedTuple):
    """A name and a password, to be checked."""

    name: str
    password: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What the client is to be asked next, and what it has said so far."""

    challenge: bytes
    mechanism: bytes
    name: str | None = None

    def line(self) -> bytes:
        """Return the challenge for the wire."""
        return b"334 " + base64.b64encode(self.challenge) + b"\r\n"


Step = Given | Asked | SmtpReply


def is_on_this_machine(address: str) -> bool:
    """Return whether nobody stands between us and a client of that address."""
    try:
        return ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def begin(argument: bytes) -> Step:
    """Read the argument of AUTH: the mechanism and perhaps a first response."""
    mechanism, _, first = argument.partition(b" ")
    match mechanism.upper():
        case b"PLAIN":
            asked = Asked(b"", b"PLAIN")
        case b"LOGIN":
            asked = Asked(b"Username:", b"LOGIN")
        case b"":
            return answer.BAD_ARGUMENT
        case _:
            return answer.LOGIN_UNKNOWN
    return go_on(asked, first) if first else asked


def go_on(asked: Asked, line: bytes) -> Step:
    """Read the client's response to a challenge."""
    if line == b"*":
        return answer.LOGIN_CANCELLED
    try:
        said = base64.b64decode(b"" if line == b"=" else line, validate=True).decode()
    except binascii.Error:
        return answer.LOGIN_UNREADABLE
    except UnicodeDecodeError:
        return answer.BAD_ARGUMENT
    if asked.mechanism == b"PLAIN":
        parts = said.split("\0")
        return Given(parts[1], parts[2]) if len(parts) == 3 else answer.BAD_ARGUMENT
    if asked.name is None:
        return Asked(b"Password:", asked.mechanism, said)
    return Given(asked.name, said)
