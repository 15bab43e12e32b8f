"""What tracking keeps in the database. Values only."""

from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True)
class SealedKey:
    """A key of tokens as it lies in the database."""

    id: int
    project_id: UUID
    sealed: bytes = field(repr=False)
