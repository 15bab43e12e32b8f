"""What tracking keeps in the database. Values only."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class SealedKey:
    """A key of tokens as it lies in the database."""

    id: int
    project_id: UUID
    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Project:
    """What the mail of a project has in common; `domain` None: it has none that leads here."""

    id: UUID
    postal_address: str | None
    domain: str | None


@dataclass(frozen=True, slots=True)
class TrackedLink:
    """Where a tracked link leads."""

    project_id: UUID
    link: bytes
    url: str


@dataclass(frozen=True, slots=True)
class RecentClicks:
    """When a mail was handed over, and which of its links were followed a moment ago."""

    email_id: UUID
    sent_at: datetime | None  # None: it is on its way
    links: list[str]
