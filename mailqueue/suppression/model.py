"""Values: suppressions, and the lines of lists of them."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from mailqueue.contract.suppression import (
    BadLine,
    ImportedSuppressions,
    ListEncoding,
    SuppressionReason,
)
from mailqueue.core.address import Address


@dataclass(frozen=True, slots=True)
class SuppressionRow:
    """An active suppression."""

    id: int
    address: str | None  # None: erased, only the hash is stored
    address_hash: str  # hexadecimal, keyed with the project's key
    category: str  # "": all mail of the project; "*": all that recipients can unsubscribe from
    reason: SuppressionReason
    detail: str | None
    created_at: datetime
    expires_at: datetime | None  # None: never
    email_id: UUID | None = None  # mail that caused the suppression
    source: str | None = None  # what or who added the suppression

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", SuppressionReason(self.reason))


@dataclass(frozen=True, slots=True)
class EndedSuppressionRow:
    """An ended suppression; `ended_why` is the reason given by the person who ended it."""

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
class NewSuppression:
    """A requested suppression, validated."""

    address: Address
    reason: SuppressionReason = SuppressionReason.MANUAL
    category: str = ""
    detail: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ListLine:
    """A valid line of a list; `number` counts lines, or the elements of an array, from 1."""

    number: int
    entry: NewSuppression


@dataclass(slots=True)
class ImportTally:
    """Result of an import so far; all bad lines are counted, the first ones are kept."""

    added: int = 0
    renewed: int = 0
    there_already: int = 0
    bad: int = 0
    erased: int = 0
    errors: list[BadLine] = field(default_factory=list)
    encoding: ListEncoding = ListEncoding.UTF_8

    def result(self, *, is_trial: bool) -> ImportedSuppressions:
        """Return the counts as callers see them."""
        return ImportedSuppressions(
            added=self.added,
            renewed=self.renewed,
            there_already=self.there_already,
            bad=self.bad,
            erased=self.erased,
            errors=self.errors,
            encoding=self.encoding,
            dry_run=is_trial,
        )
