"""Composes the bytes of one email from a shared skeleton and its own headers. Pure."""

import re
import time
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from mailqueue.core.address import Mailbox
from mailqueue.mime.headers import addresses, check_header, unstructured
from mailqueue.mime.skeleton import Skeleton

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MESSAGE_ID = re.compile(r"<[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]{1,128}@[A-Za-z0-9.-]{1,253}>")
_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


class PerMail(NamedTuple):
    """The headers of one email. A subject here replaces the shared one."""

    sender: Mailbox
    to: Sequence[Mailbox]
    written_at: datetime
    message_id: str
    cc: Sequence[Mailbox] = ()
    reply_to: Sequence[Mailbox] = ()
    subject: str | None = None
    headers: Sequence[tuple[str, str]] = ()


def compose(skeleton: Skeleton, mail: PerMail) -> bytes:
    """Return the message with CRLF line ends and lines of at most 998 bytes, without dot-stuffing.

    The result depends on the arguments only. Blind copies appear in no header.

    Raises:
        ValueError: a header cannot be written; the message names it and the reason.
    """
    parts = [_from_header(mail.sender)]
    if mail.to:
        parts.append(addresses("To", mail.to))
    elif not mail.cc:
        parts.append(b"To: undisclosed-recipients:;\r\n")
    if mail.cc:
        parts.append(addresses("Cc", mail.cc))
    if mail.reply_to:
        parts.append(addresses("Reply-To", mail.reply_to))
    parts += (
        skeleton.subject if mail.subject is None else unstructured("Subject", mail.subject),
        date_header(int(mail.written_at.timestamp())),
        _message_id_header(mail.message_id),
        skeleton.headers,
    )
    for name, value in mail.headers:
        check_header(name, value)
        parts.append(unstructured(name, value))
    parts.append(skeleton.mime)
    return b"".join(parts)


@lru_cache(maxsize=256)  # the emails of an account share one
def _from_header(sender: Mailbox) -> bytes:
    return addresses("From", (sender,))


def message_id(email_id: UUID, domain: str) -> str:
    """Return the Message-ID of an email, the same for every attempt; `domain` is in A-labels.

    Raises:
        ValueError: it is not a domain.
    """
    if not _DOMAIN.fullmatch(domain):
        raise ValueError(f"the domain of a Message-ID must be in A-label form, got {domain!r}")
    return f"<{email_id.hex}@{domain}>"


@lru_cache(maxsize=8)  # thousands of emails share a second
def date_header(epoch_seconds: int) -> bytes:
    """Return the Date header of an instant, in UTC (RFC 5322 3.3, independent of the locale)."""
    at = time.gmtime(epoch_seconds)
    return (
        f"Date: {_DAYS[at.tm_wday]}, {at.tm_mday:02d} {_MONTHS[at.tm_mon - 1]} {at.tm_year:04d}"
        f" {at.tm_hour:02d}:{at.tm_min:02d}:{at.tm_sec:02d} +0000\r\n"
    ).encode()


def _message_id_header(value: str) -> bytes:
    if not _MESSAGE_ID.fullmatch(value):
        raise ValueError(f"Message-ID must be written <id@domain> in ASCII, got {value[:200]!r}")
    return f"Message-ID: {value}\r\n".encode()
