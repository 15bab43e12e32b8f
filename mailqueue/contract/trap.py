"""Emails that the mail trap caught."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class CaughtEmail(Value):
    """A caught email."""

    id: int
    received_at: datetime
    mail_from: str
    """Envelope sender; empty for a bounce."""
    rcpt_to: Sequence[str]
    """Envelope recipients."""
    subject: str
    from_: str
    to: str
    message_id: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class CaughtAttachment(Value):
    """A part of a caught email that is not shown as text."""

    filename: str
    content_type: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class CaughtEmailContent(CaughtEmail):
    """A caught email with its texts and headers."""

    text: str | None
    html: str | None
    headers: Sequence[tuple[str, str]]
    """Names and values, decoded, in their order."""
    attachments: Sequence[CaughtAttachment]


@dataclass(frozen=True, slots=True)
class ClearedTrap(Value):
    """Number of caught emails that were deleted."""

    cleared: int
