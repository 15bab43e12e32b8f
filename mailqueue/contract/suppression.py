"""A suppressed address, and a category that people can unsubscribe from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.value import Value


class SuppressionReason(StrEnum):
    """Why an address is suppressed."""

    HARD_BOUNCE = "hard_bounce"
    SOFT_BOUNCE_THRESHOLD = "soft_bounce_threshold"  # too many temporary refusals
    COMPLAINT = "complaint"
    UNSUBSCRIBED = "unsubscribed"
    PAUSED = "paused"  # by the recipient, until a date
    MANUAL = "manual"


class SuppressionOutcome(StrEnum):
    """Result of a request to suppress an address."""

    ADDED = "added"
    RENEWED = "renewed"  # it existed, and would have ended sooner
    THERE_ALREADY = "there_already"


class ListEncoding(StrEnum):
    """Character encoding of an imported list."""

    UTF_8 = "utf-8"
    UTF_16 = "utf-16"
    UTF_32 = "utf-32"
    WINDOWS_1252 = "windows-1252"


@dataclass(frozen=True, slots=True)
class BadLine(Value):
    """A line of an imported list that was refused."""

    line: int
    """Number of the line, or of the element of an array, from 1."""
    reason: str
    column: str | None = None
    """Field of the value that was refused; null: the line as a whole was."""

    @property
    def text(self) -> str:
        """The reason, after the column that it is about."""
        return self.reason if self.column is None else f"{self.column}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Suppression(Value):
    """An address that is not written to."""

    email: str | None
    """Null where the recipient was erased: only the hash is known."""
    email_hash: str
    reason: SuppressionReason
    category: str
    """Category of the emails it stops; empty for all emails, `*` for all
    that recipients can unsubscribe from.
    """
    detail: str | None
    created_at: datetime
    expires_at: datetime | None
    """When it ends by itself; null for never."""
    email_id: UUID | None
    """Id of the email that caused it."""
    source: str | None
    """Who or what added it."""


@dataclass(frozen=True, slots=True)
class EndedSuppression(Value):
    """A suppression that has ended, who ended it and why."""

    reason: SuppressionReason
    category: str
    """Category of the emails it stopped; empty for all emails."""
    detail: str | None
    created_at: datetime
    expires_at: datetime | None
    email_id: UUID | None
    """Id of the email that caused it."""
    source: str | None
    ended_at: datetime
    ended_by: str
    ended_why: str | None


@dataclass(frozen=True, slots=True)
class KnownSuppression(Value):
    """The suppressions in force for an address, and those that have ended."""

    email: str | None
    """Null where the address is not known, only its hash."""
    email_hash: str
    suppressions: Sequence[Suppression]
    history: Sequence[EndedSuppression]


@dataclass(frozen=True, slots=True)
class AddedSuppression(Value):
    """Result for one address of the request."""

    email: str
    email_hash: str
    status: SuppressionOutcome


@dataclass(frozen=True, slots=True)
class AddedSuppressions(Value):
    """Result for each address, in the order of the request."""

    data: Sequence[AddedSuppression]


@dataclass(frozen=True, slots=True)
class CheckedSuppression(Value):
    """Whether an address is suppressed, and every suppression in force for it."""

    email: str
    email_hash: str
    suppressed: bool
    reason: SuppressionReason | None
    suppressions: Sequence[Suppression]


@dataclass(frozen=True, slots=True)
class RemovedSuppression(Value):
    """An address whose suppressions were ended, and their number."""

    email: str | None
    """Null where the address is not known, only its hash."""
    email_hash: str
    removed: int
    """Number of suppressions that were ended."""


@dataclass(frozen=True, slots=True)
class ImportedSuppressions(Value):
    """Number of lines of an imported list by outcome."""

    added: int
    renewed: int
    there_already: int
    bad: int
    erased: int
    """Lines of erased persons in an exported list, which have no address and suppress nothing."""
    errors: Sequence[BadLine]
    """The bad lines, the first 1,000 of them."""
    encoding: ListEncoding
    """Character encoding that the list was read in."""
    dry_run: bool


@dataclass(frozen=True, slots=True)
class CategoryText(Value):
    """Name and description of a category in one language."""

    name: str | None
    description: str | None


@dataclass(frozen=True, slots=True)
class Category(Value):
    """A category of emails, as recipients see it in the preference centre."""

    slug: str
    name: str
    description: str | None
    translations: Mapping[str, CategoryText]
    is_required: bool
    """Whether recipients cannot unsubscribe from it."""
    place: int
    """Position in the list; lower ones come first."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Categories(Value):
    """All categories of a project, in the order recipients see them."""

    data: Sequence[Category]
