"""What workers carry out in the background: operations on all matching emails, and imports."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from mailqueue.contract.suppression import BadLine, ListEncoding
from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class BackgroundOperation(Value):
    """An operation on all emails of a project that match a filter."""

    id: UUID
    project: str
    verb: str
    """`hold`, `release`, `cancel`, `requeue` or `move`."""
    filter: dict[str, Any]
    to: str | None
    """Name of the sender account of a move; null: any, and for other operations."""
    reason: str
    state: str
    """`waiting`, `running`, `stopping`, `done`, `stopped` or `failed`."""
    emails: int
    """Number of emails that were changed so far."""
    searched: int
    """Number of emails that were searched so far, in all passes."""
    passes: int
    """Number of the current pass over the queue, at most 5; the last one matches nothing, or is the
    fifth. Emails are queued again in one pass.
    """
    requested_by: str
    stop_requested_by: str | None
    error: str | None
    created_at: datetime
    """Emails accepted later are not changed."""
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class MatchingEmail(Value):
    """An email that an operation would change."""

    id: UUID
    recipient_email: str
    subject: str | None
    status: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class MatchCount(Value):
    """How many emails an operation would change now."""

    emails: int
    is_complete: bool
    """false: counting stopped at a bound, and there may be more."""
    searched: int
    """Number of emails that were searched."""
    examples: list[MatchingEmail]
    """The first of them, at most ten."""


class ImportKind(StrEnum):
    """What is imported."""

    CONTACTS = "contacts"
    SUPPRESSIONS = "suppressions"


@dataclass(frozen=True, slots=True)
class DataImport(Value):
    """An import of a file into a project."""

    id: UUID
    project: str
    kind: ImportKind
    options: dict[str, Any]
    """What was asked for: `list`, the name of a list that contacts are added to; `reason`, that of
    suppressions whose line has none.
    """
    file_name: str | None
    encoding: ListEncoding
    """How the file is read."""
    is_test: bool
    state: str
    """`waiting`, `running`, `done`, `failed`, `cancelled`, or `erased`: its file was destroyed."""
    bytes: int
    """Size of the file."""
    lines: int
    """Number of lines of the file, its header and empty ones included."""
    lines_read: int
    """Number of records that are read: those that are taken, and those that are refused."""
    taken: dict[str, int]
    """Number of lines by what became of them: `added`, `changed`, `unchanged` of contacts; `added`,
    `renewed`, `there_already` of suppressions.
    """
    refused: int
    refusals: Sequence[BadLine]
    """The first 1,000 lines that were refused; empty in lists of imports."""
    requested_by: str
    error: str | None
    created_at: datetime
    finished_at: datetime | None
