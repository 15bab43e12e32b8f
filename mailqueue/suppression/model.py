"""Suppressions, and the lines of lists of them. Values only."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from mailqueue.contract.suppression import BadLine, SuppressionOutcome, SuppressionReason
from mailqueue.core.address import Address


@dataclass(frozen=True, slots=True)
class SuppressionRow:
    """One that is in force, as it stands in the database."""

    id: int
    address: str | None  # None: erased, and known by its hash only
    address_hash: str  # hexadecimal; by the key of the project
    category: str  # "": all mail of the project; "*": all that one can unsubscribe from
    reason: SuppressionReason
    detail: str | None
    created_at: datetime
    expires_at: datetime | None  # None: never
    email_id: UUID | None = None  # mail that caused it
    source: str | None = None  # who put it there

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", SuppressionReason(self.reason))


@dataclass(frozen=True, slots=True)
class EndedSuppressionRow:
    """One that holds no more, and who ended it; `ended_why` as they said it."""

    address: str | None
    address_hash: str
    category: str
    reason: SuppressionReason
    detail: str | None
    created_at: datetime
    expires_at: datetime | None
    email_id: UUID | None
    source: str | None
    ended_at: datetime
    ended_by: str
    ended_why: str | None


@dataclass(frozen=True, slots=True)
class AddressSuppressions:
    """The current and ended suppressions of one address."""

    address: str | None
    address_hash: str
    now: list[SuppressionRow]
    before: list[EndedSuppressionRow]


@dataclass(frozen=True, slots=True)
class NewSuppression:
    """A requested suppression, validated."""

    address: Address
    reason: SuppressionReason = SuppressionReason.MANUAL
    category: str = ""
    detail: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ListLine:
    """One of them in a list; `number` counts lines, or the elements of an array, from 1."""

    number: int
    wanted: NewSuppression


@dataclass(frozen=True, slots=True)
class Added:
    """Result of suppressing one address."""

    outcome: SuppressionOutcome
    address: str
    address_hash: str


@dataclass(slots=True)
class ImportTally:
    """What became of a list so far; of bad lines the first are kept, and all are counted."""

    added: int = 0
    renewed: int = 0
    there_already: int = 0
    bad: int = 0
    errors: list[BadLine] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SuppressionCheck:
    """Whether mail goes to an address; `found` is all that is in force for it."""

    address: str
    address_hash: str
    is_suppressed: bool
    reason: SuppressionReason | None
    found: list[SuppressionRow]


@dataclass(frozen=True, slots=True)
class Removed:
    """An address whose suppressions were removed, and their number."""

    address: str | None  # None: erased
    address_hash: str
    count: int
