"""Caught messages. Values only."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Caught:
    """A message on its way into the trap: envelope, what the list shows, and the exact bytes."""

    mail_from: str
    rcpt_to: tuple[str, ...]
    subject: str
    from_header: str
    to_header: str
    preview: str
    raw: bytes


@dataclass(frozen=True, slots=True)
class TrapSummary:
    """A caught message as the list shows it."""

    id: int
    received_at: datetime
    mail_from: str
    rcpt_to: list[str]
    subject: str
    from_header: str
    to_header: str
    preview: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class TrapMessage:
    """A caught message with its bytes as they came, dots unstuffed."""

    id: int
    received_at: datetime
    mail_from: str
    rcpt_to: list[str]
    subject: str
    from_header: str
    to_header: str
    preview: str
    size_bytes: int
    raw: bytes


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The messages caught right before and right after one."""

    older: int | None
    newer: int | None
