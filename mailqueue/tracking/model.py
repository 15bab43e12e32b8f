"""Rows of tracking. Values only."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class Gap(StrEnum):
    """What marketing mail should contain and a mail did not."""

    NO_UNSUBSCRIBE = "no_unsubscribe"  # marketing
    NO_PUBLIC_URL = "no_public_url"  # mail that is to be tracked
    NO_POSTAL_ADDRESS = "no_postal_address"  # marketing


@dataclass(frozen=True, slots=True)
class SealedKey:
    """A token key as it is stored, sealed."""

    id: int
    project_id: UUID
    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class TrackedProject:
    """The tracking settings of a project; `domain` None: it has no verified one."""

    id: UUID
    postal_address: str | None
    domain: str | None


@dataclass(frozen=True, slots=True)
class TrackedLink:
    """A tracked link and its destination."""

    project_id: UUID
    link: bytes
    url: str


@dataclass(frozen=True, slots=True)
class RecentClicks:
    """When a mail was sent, and which of its links were followed within a window."""

    email_id: UUID
    sent_at: datetime | None  # now while it is first sent; None: unknown
    links: list[str]
    now: datetime


@dataclass(frozen=True, slots=True)
class TrackingDomain:
    """The tracking domain of a project; None: links begin with MAILQUEUE_PUBLIC_URL."""

    id: UUID
    domain: str | None
    checked_at: datetime | None  # last time its DNS led here; None: links do not use it
