"""Lists of suppressed addresses, and their filters. Values only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.contract.suppression import SuppressionReason

BOUNCED = (SuppressionReason.HARD_BOUNCE, SuppressionReason.SOFT_BOUNCE_THRESHOLD)
COMPLAINED = (SuppressionReason.COMPLAINT,)
CHOSEN = (
    SuppressionReason.UNSUBSCRIBED,
    SuppressionReason.PAUSED,
    SuppressionReason.MANUAL,
)
"""By the recipient or the sender: providers have one list for both."""
EVERY_REASON = tuple(SuppressionReason)
ALL_EMAIL = ""
"""The category of suppressions of all mail."""
ALL_OPTIONAL = "*"
"""The category of suppressions of all mail that recipients can unsubscribe from."""


@dataclass(frozen=True, slots=True)
class SuppressedList:
    """The addresses that are suppressed for one of `reasons`, in one of `categories`; None: in any.

    Without reasons the list is always empty.
    """

    reasons: tuple[SuppressionReason, ...]
    categories: tuple[str, ...] | None = None


UNSUBSCRIBED = SuppressedList(CHOSEN, (ALL_EMAIL, ALL_OPTIONAL))
"""Addresses that chose to receive no mail at all, or none that can be unsubscribed from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressFilter:
    """Filters of a page of addresses; an address is listed if all given filters match."""

    email: str | None = None
    ids: Sequence[int] | None = None
    prefix: str | None = None  # beginning of the address
    since: datetime | None = None
    until: datetime | None = None  # inclusive
    older_than: int | None = None  # id of the last address of the page before
    limit: int = 100
    offset: int = 0


class SuppressedInCategory(NamedTuple):
    """A suppression of an address in one category."""

    id: int
    address: str
    category: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SuppressedAddress:
    """An address of a list, with the categories of all its suppressions there."""

    id: int
    address: str
    reason: SuppressionReason
    detail: str | None
    created_at: datetime
    email_id: UUID | None
    categories: list[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", SuppressionReason(self.reason))
