"""Caught messages. Values only."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class CaughtMessage:
    """A message to store: envelope, values for the list, and its exact bytes."""

    mail_from: str
    rcpt_to: tuple[str, ...]
    subject: str
    from_header: str
    to_header: str
    preview: str
    raw: bytes


@dataclass(frozen=True, slots=True)
class TrapSummary:
    """A caught message in the list."""

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
class TrapMessage(TrapSummary):
    """A caught message with its bytes, without dot-stuffing."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The messages next to one, older and newer."""

    older: int | None
    newer: int | None
