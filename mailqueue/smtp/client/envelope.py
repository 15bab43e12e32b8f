"""Encodes one email as commands and bytes for one server, or refuses it before a byte is sent.

Pure. Addresses and body cannot end a command or the message early.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from mailqueue.core.verdict import AllRefused, Fault, Refused, Rejected, Stage, Verdict
from mailqueue.ports.transport import Envelope, SendAttempt

DATA = b"DATA\r\n"
MAX_PATH_BYTES = 254  # RFC 5321 section 4.5.3.1.3 less the angle brackets

# No leading @, which is a source route, and no quoted string in the domain.
ADDRESS = re.compile(r"[^\x00-\x20\x7f<>@][^\x00-\x20\x7f<>]*@[^\x00-\x20\x7f<>@\\\"]+")
# A canonical message without these bytes is CR LF pairs only: one translate() call checks it.
ALL_BUT_ENDS = bytes(octet for octet in range(256) if octet not in b"\r\n\0")
DOT_IN_FRONT = re.compile(rb"\r\n\.")  # the regex takes half the time of `in`


@dataclass(frozen=True, slots=True)
class Extensions:
    """The extensions of a server's EHLO reply; `max_bytes` is 0 if it names no size limit."""

    pipelining: bool = False
    size: bool = False
    max_bytes: int = 0
    eight_bit: bool = False
    smtputf8: bool = False


class EncodedEmail(NamedTuple):
    """One email encoded for one server. A tuple, because one is created for every email."""

    mail: SendAttempt
    commands: tuple[bytes, ...]  # MAIL, every RCPT, DATA
    recipients: tuple[str, ...]  # those of the RCPT commands, in order
    refused: tuple[Refused, ...]  # those that this server cannot take
    body: bytes  # dot-stuffed, ends in CRLF, without the final dot


def encode(mail: SendAttempt, offered: Extensions) -> EncodedEmail | Verdict:
    """Return the commands and body for this server, or a verdict if it cannot take the email."""
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
    return EncodedEmail(mail, commands, accepted, refused, body)


def _objection(envelope: Envelope, message: bytes, offered: Extensions) -> Rejected | None:
    """Return why this server cannot take the message, or None."""
    sender = envelope.sender
    if sender and not _is_safe(sender):
        return _refusal("5.1.7", "the envelope sender is not an address")
    if not envelope.recipients:
        return _refusal("5.5.1", "the message has no recipient")
    if offered.size and 0 < offered.max_bytes < len(message):
        limit = f"{len(message)} bytes; the server accepts at most {offered.max_bytes}"
        return _refusal("5.3.4", f"the message has {limit}")
    if message.isascii():
        headers_are_ascii = True
    else:
        if not offered.eight_bit:
            return _refusal(
                "5.6.3", "the message is not 7-bit and the server does not offer 8BITMIME"
            )
        headers_are_ascii = message.partition(b"\r\n\r\n")[0].isascii()
    if sender.isascii() and headers_are_ascii:
        return None
    if envelope.needs_smtputf8 and offered.smtputf8:
        return None
    return _refusal("5.6.7", "the sender or a header is not ASCII; the server offers no SMTPUTF8")


def _addressable(
    envelope: Envelope, offered: Extensions
) -> tuple[tuple[str, ...], tuple[Refused, ...]]:
    """Split the recipients into those that this server can take and those that it cannot."""
    utf8 = envelope.needs_smtputf8 and offered.smtputf8
    recipients = envelope.recipients
    if all(_is_safe(address) and (utf8 or address.isascii()) for address in recipients):
        return recipients, ()
    accepted: list[str] = []
    refused: list[Refused] = []
    for address in recipients:
        if not _is_safe(address):
            why = Rejected(
                Fault.PERMANENT_RECIPIENT, "", "not an address", Stage.RCPT, enhanced="5.1.3"
            )
        elif not (utf8 or address.isascii()):
            detail = "the address is not ASCII and the server does not offer SMTPUTF8"
            why = Rejected(Fault.PERMANENT_MESSAGE, "", detail, Stage.RCPT, enhanced="5.6.7")
        else:
            accepted.append(address)
            continue
        refused.append(Refused(address, why))
    return tuple(accepted), tuple(refused)


def _is_safe(address: str) -> bool:
    """Return whether the address can be part of a command without ending or extending it."""
    return (
        ADDRESS.fullmatch(address) is not None
        and address.isprintable()
        and (len(address) <= MAX_PATH_BYTES // 4 or len(address.encode()) <= MAX_PATH_BYTES)
    )


def _stuffed(message: bytes) -> bytes | Rejected:
    """Return the message with leading dots doubled (RFC 5321 section 4.5.2), copied only if needed.

    A bare CR or LF is refused, not repaired: some servers read LF dot LF as the end of the message,
    and changing signed bytes would invalidate the signature.
    """
    ends = message.translate(None, ALL_BUT_ENDS)
    if ends != b"\r\n" * (len(ends) // 2):
        return _refusal("5.6.0", "the message contains a bare CR or LF, or a NUL")
    if message[:1] == b".":
        message = b"." + message
    if DOT_IN_FRONT.search(message):
        message = message.replace(b"\r\n.", b"\r\n..")
    return message if message.endswith(b"\r\n") else message + b"\r\n"


def _refusal(enhanced: str, detail: str) -> Rejected:
    return Rejected(Fault.PERMANENT_MESSAGE, "", detail, Stage.MAIL, enhanced=enhanced)
