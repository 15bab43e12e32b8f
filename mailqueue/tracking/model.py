"""What tracking keeps in the database. Values only."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class Gap(StrEnum):
    """What a mail should have had and went without."""

    NO_UNSUBSCRIBE = "no_unsubscribe"  # marketing
    NO_PUBLIC_URL = "no_public_url"  # mail that is to be tracked
    NO_POSTAL_ADDRESS = "no_postal_address"  # marketing


@dataclass(frozen=True, slots=True)
class SealedKey:
    """A key of tokens as it lies in the database."""

    id: int
    project_id: UUID
    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class TrackedProject:
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


@dataclass(frozen=True, slots=True)
class TrackingDomain:
    """By which domain the links of a project's mail lead; None: by the installation's address."""

    id: UUID
    domain: str | None
    checked_at: datetime | None  # last found to lead here; None: its mail does not use it


@dataclass(frozen=True, slots=True)
class TrackingKeyDates:
    """A key of tokens, without what it is."""

    id: str
    created_at: datetime
    retired_at: datetime | None
