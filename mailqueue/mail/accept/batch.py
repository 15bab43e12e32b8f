"""What is said of mail that was handed in for many. Values only."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID


class BatchItem(NamedTuple):
    """What became of one recipient; `id` None where it was refused."""

    place: int  # from 0
    id: UUID | None
    status: str  # queued, suppressed, rejected
    reason: str | None
    batch_id: UUID | None


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch, and how many of its mails are in each state by now."""

    id: UUID
    created_at: datetime
    created_by: str
    subject: str | None
    recipients: int
    rejected: int
    counts: dict[str, int]
