"""Turns one mail into the commands and bytes for one server, or refuses it before a byte is sent.

Pure. Nothing reaches the wire that could end a command or the message early.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from mailqueue.core.verdict import AllRefused, Kind, Refused, Rejected, Stage, Verdict
from mailqueue.ports.transport import Envelope, SendAttempt

DATA = b"DATA\r\n"
MAX_PATH_BYTES = 254  # RFC 5321 section 4.5.3.1.3 less the angle brackets

# No leading @, which would be a source route, and no quoting in the domain.
ADDRESS = re.compile(r"[^\x00-\x20\x7f<>@][^\x00-\x20\x7f<>]*@[^\x00-\x20\x7f<>@\\\"]+")
# What is left of a canonical message without these is CR LF pairs: one quick pass tells.
ALL_BUT_ENDS = bytes(octet for octet in range(256) if octet not in b"\r\n\0")
DOT_IN_FRONT = re.compile(rb"\r\n\.")  # found in half the time that `in` takes


@dataclass(frozen=True, slots=True)
class Offered:
    """What the server said after EHLO that it can do. `max_bytes` 0 means no limit was named."""

    pipelining: bool = False
    size: bool = False
    max_bytes: int = 0
    eight_bit: bool = False
    smtputf8: bool = False


class Plan(NamedTuple):
    """One mail in the form it goes over the wire. A tuple, because one is made for every mail."""

    mail: SendAttempt
    commands: tuple[bytes, ...]  # MAIL, every RCPT, DATA
    recipients: tuple[str, ...]  # those the RCPT commands name, in order
    refused: tuple[Refused, ...]  # those that cannot be asked for here
    body: bytes  # dot-stuffed, ends in CRLF, without the final dot


def plan(mail: SendAttempt, offered: Offered) -> Plan | Verdict:
    """Return the commands and body for this server, or the verdict that needs no server."""
    envelope, message = mail.envelope, mail.message
    body = _stuffed(message)
    if isinstance(body, Rejected):
        return body
    objection = _objection(envelope, message, offered)
    if objection is not None:
        return objection
    accepted, refused = _addressable(envelope, offered)
    if not accepted:
        return refused[0].why if len(refused) == 1 else AllRefused(refused)
    parameters = ""
    if offered.size:
        parameters = f" SIZE={len(message)}"
    if offered.eight_bit and not message.isascii():
        parameters += " BODY=8BITMIME"
    if envelope.needs_smtputf8 and offered.smtputf8:
        parameters += " SMTPUTF8"
    commands = (
        f"MAIL FROM:<{envelope.sender}>{parameters}\r\n".encode(),
        *[f"RCPT TO:<{address}>\r\n".encode() for address in accepted],
        DATA,
    )
    return Plan(mail, commands, accepted, refused, body)


def _objection(envelope: Envelope, message: bytes, offered: Offered) -> Rejected | None:
    """Return why this server cannot get this message at all, or None."""
    sender = envelope.sender
    if sender and not _is_safe(sender):
        return _refusal("5.1.7", "the envelope sender is not an address")
    if not envelope.recipients:
        return _refusal("5.5.1", "the message has no recipient")
    if offered.size and 0 < offered.max_bytes < len(message):
        limit = f"{len(message)} bytes, and the server takes {offered.max_bytes}"
        return _refusal("5.3.4", f"the message has {limit}")
    if message.isascii():
        headers_are_ascii = True
    else:
        if not offered.eight_bit:
            return _refusal("5.6.3", "the message is not 7-bit and the server takes nothing else")
        headers_are_ascii = message.partition(b"\r\n\r\n")[0].isascii()
    if sender.isascii() and headers_are_ascii:
        return None
    if envelope.needs_smtputf8 and offered.smtputf8:
        return None
    return _refusal("5.6.7", "the sender or a header is not ASCII and cannot go over this route")


def _addressable(
    envelope: Envelope, offered: Offered
) -> tuple[tuple[str, ...], tuple[Refused, ...]]:
    """Part the recipients into those that can be named to this server and those that cannot."""
    utf8 = envelope.needs_smtputf8 and offered.smtputf8
    recipients = envelope.recipients
    if all(_is_safe(address) and (utf8 or address.isascii()) for address in recipients):
        return recipients, ()
    accepted: list[str] = []
    refused: list[Refused] = []
    for address in recipients:
        if not _is_safe(address):
            why = Rejected(
                Kind.PERMANENT_RECIPIENT, "", "not an address", Stage.RCPT, enhanced="5.1.3"
            )
        elif not (utf8 or address.isascii()):
            detail = "the address is not ASCII and the server does not offer SMTPUTF8"
            why = Rejected(Kind.PERMANENT_MESSAGE, "", detail, Stage.RCPT, enhanced="5.6.7")
        else:
            accepted.append(address)
            continue
        refused.append(Refused(address, why))
    return tuple(accepted), tuple(refused)


def _is_safe(address: str) -> bool:
    """Return whether the address can stand in a command without ending or extending it."""
    return (
        ADDRESS.fullmatch(address) is not None
        and address.isprintable()
        and (len(address) <= MAX_PATH_BYTES // 4 or len(address.encode()) <= MAX_PATH_BYTES)
    )


def _stuffed(message: bytes) -> bytes | Rejected:
    """Return the message with dots doubled (RFC 5321 section 4.5.2); a copy only where one is.

    A bare CR or LF is refused, not repaired: some servers read LF dot LF as the end of the
    message, and altering signed bytes would break the signature.
    """
    ends = message.translate(None, ALL_BUT_ENDS)
    if ends != b"\r\n" * (len(ends) // 2):
        return _refusal("5.6.0", "the message has a bare CR or LF, or a NUL")
    if message[:1] == b".":
        message = b"." + message
    if DOT_IN_FRONT.search(message):
        message = message.replace(b"\r\n.", b"\r\n..")
    return message if message.endswith(b"\r\n") else message + b"\r\n"


def _refusal(enhanced: str, detail: str) -> Rejected:
    return Rejected(Kind.PERMANENT_MESSAGE, "", detail, Stage.MAIL, enhanced=enhanced)
