"""Parses the responses of AUTH PLAIN and AUTH LOGIN. Pure; RFC 4616, RFC 4954."""

import base64
import binascii
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple

from mailqueue.smtp.server import answer
from mailqueue.smtp.server.answer import SmtpReply

MECHANISMS = "PLAIN LOGIN"
LINE_BYTES = 12_288  # RFC 4954 section 4


class NameAndPassword(NamedTuple):
    """A user name and password, not checked yet."""

    name: str
    password: str


@dataclass(frozen=True, slots=True)
class Challenge:
    """The next challenge for the client, and the user name if already received."""

    challenge: bytes
    mechanism: bytes
    name: str | None = None

    def line(self) -> bytes:
        """Return the challenge as an SMTP reply line."""
        return b"334 " + base64.b64encode(self.challenge) + b"\r\n"


LoginStep = NameAndPassword | Challenge | SmtpReply


def is_on_this_machine(address: str) -> bool:
    """Return whether the address is a loopback address, so that no network is in between."""
    try:
        return ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def begin(argument: bytes) -> LoginStep:
    """Parse the argument of AUTH: the mechanism and an optional initial response."""
    mechanism, _, first = argument.partition(b" ")
    match mechanism.upper():
        case b"PLAIN":
            challenge = Challenge(b"", b"PLAIN")
        case b"LOGIN":
            challenge = Challenge(b"Username:", b"LOGIN")
        case b"":
            return answer.BAD_ARGUMENT
        case _:
            return answer.LOGIN_UNKNOWN
    return resume(challenge, first) if first else challenge


def resume(challenge: Challenge, line: bytes) -> LoginStep:
    """Parse the client's response to a challenge."""
    if line == b"*":
        return answer.LOGIN_CANCELLED
    try:
        response = base64.b64decode(b"" if line == b"=" else line, validate=True).decode()
    except binascii.Error:
        return answer.LOGIN_UNREADABLE
    except UnicodeDecodeError:
        return answer.BAD_ARGUMENT
    if challenge.mechanism == b"PLAIN":
        parts = response.split("\0")
        return NameAndPassword(parts[1], parts[2]) if len(parts) == 3 else answer.BAD_ARGUMENT
    if challenge.name is None:
        return Challenge(b"Password:", challenge.mechanism, response)
    return NameAndPassword(challenge.name, response)
