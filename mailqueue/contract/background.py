"""Operations on all matching emails that workers carry out."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

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
