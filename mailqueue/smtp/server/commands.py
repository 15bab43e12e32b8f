"""Parses the arguments of MAIL and RCPT. Pure."""

import re
from dataclasses import dataclass

from mailqueue.smtp.server import answer
from mailqueue.smtp.server.answer import SmtpReply

PATH_BYTES = 254  # RFC 5321 section 4.5.3.1.3 less the angle brackets

# A path: only quoted strings may contain spaces and angle brackets.
_PATH = rb'<((?:"(?:[^"\\\x00-\x1f\x7f]|\\[ -~])*"|[^"\x00-\x20\x7f<>])*)>'
_MAIL = re.compile(rb"FROM: ?" + _PATH + rb"(?: ++([^\x00-\x1f\x7f]*))?", re.IGNORECASE)
_RCPT = re.compile(rb"TO: ?" + _PATH + rb"(?: ++([^\x00-\x1f\x7f]*))?", re.IGNORECASE)
_SOURCE_ROUTE = re.compile(r"\A@[^:]*:")  # RFC 5321 appendix C: ignored
_BODIES = (b"7BIT", b"8BITMIME")

BAD_SENDER = SmtpReply(553, "5.1.7", "the sender is not an address")
BAD_RECIPIENT = SmtpReply(553, "5.1.3", "the recipient is not an address")
NEEDS_SMTPUTF8 = SmtpReply(553, "5.6.7", "an address with characters beyond ASCII needs SMTPUTF8")


@dataclass(frozen=True, slots=True)
class MailFrom:
    """The argument of MAIL; bounces have an empty sender."""

    sender: str
    needs_smtputf8: bool


def read_mail(argument: bytes, *, max_bytes: int) -> MailFrom | SmtpReply:
    """Parse the sender and the parameters SIZE, BODY, SMTPUTF8 and AUTH, or return the refusal."""
    match = _MAIL.fullmatch(argument)
    if match is None:
        return answer.BAD_ARGUMENT
    needs_smtputf8 = False
    for word in (match[2] or b"").split():
        name, _, given = word.upper().partition(b"=")
        if name == b"SIZE" and given.isdigit() and len(given) <= 20:
            if int(given) > max_bytes:
                return answer.TOO_BIG
        elif word.upper() == b"SMTPUTF8":
            needs_smtputf8 = True
        elif not (name == b"BODY" and given in _BODIES) and not (name == b"AUTH" and given):
            return answer.BAD_PARAMETER
    if not match[1]:
        return MailFrom("", needs_smtputf8)
    sender = _address(match[1], needs_smtputf8=needs_smtputf8, fault=BAD_SENDER)
    return sender if isinstance(sender, SmtpReply) else MailFrom(sender, needs_smtputf8)


def read_rcpt(argument: bytes, *, needs_smtputf8: bool) -> str | SmtpReply:
    """Parse the recipient, or return the refusal; RCPT takes no parameters."""
    match = _RCPT.fullmatch(argument)
    if match is None:
        return answer.BAD_ARGUMENT
    if match[2]:
        return answer.BAD_PARAMETER
    return _address(match[1], needs_smtputf8=needs_smtputf8, fault=BAD_RECIPIENT)


def _address(octets: bytes, *, needs_smtputf8: bool, fault: SmtpReply) -> str | SmtpReply:
    if not octets.isascii() and not needs_smtputf8:
        return NEEDS_SMTPUTF8
    try:
        text = octets.decode()
    except UnicodeDecodeError:
        return fault
    address = _SOURCE_ROUTE.sub("", text, count=1)
    local, at, domain = address.rpartition("@")
    if not at and address.lower() == "postmaster":  # RFC 5321 section 4.1.1.3
        return address
    if not local or not domain or len(address.encode()) > PATH_BYTES:
        return fault
    return address if address.isprintable() else fault
