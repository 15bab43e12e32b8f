"""Results of a batch. Values only."""

from typing import NamedTuple
from uuid import UUID


class BatchItem(NamedTuple):
    """Result for one recipient; `id` None where it was refused."""

    place: int  # from 0
    id: UUID | None
    status: str  # queued, suppressed, rejected
    reason: str | None
    batch_id: UUID | None
