"""What is asked and answered about suppressions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mailqueue.api.paging import PageQuery
from mailqueue.suppression.exporting import Format
from mailqueue.suppression.model import BadLine, Outcome, Reason

_STRICT = ConfigDict(extra="forbid", frozen=True)
Word = Annotated[str, Field(max_length=998)]
ReasonWord = Literal[
    "hard_bounce", "soft_bounce_threshold", "complaint", "unsubscribed", "unsubscribe", "manual"
]
"""`unsubscribe` is another spelling of `unsubscribed`."""


class _Said(BaseModel):
    model_config = _STRICT

    reason: ReasonWord | None = None
    category: Annotated[Word | None, Field(description="Only mail of it; all mail without")] = None
    detail: Annotated[Word | None, Field(description="Why, for people")] = None
    expires_at: datetime | None = None

    @property
    def until(self) -> str | None:
        return None if self.expires_at is None else self.expires_at.isoformat()


class SuppressionItem(_Said):
    """One address with what holds for it alone."""

    email: Word


class AddSuppressions(_Said):
    """Addresses to write to no more, and what holds for those that say nothing else."""

    email: Word | None = None
    emails: Annotated[list[Word | SuppressionItem], Field(max_length=1_000)] = []

    @model_validator(mode="after")
    def _has_some(self) -> "AddSuppressions":
        if bool(self.emails) == (self.email is not None):
            raise ValueError("give email, or emails with at least one")
        return self


class SuppressionsQuery(PageQuery):
    """Which suppressions are listed."""

    reason: ReasonWord | None = None
    category: Word | None = None
    q: Annotated[Word | None, Field(description="Text in the address")] = None


class CheckQuery(BaseModel):
    """Whom to look for."""

    model_config = _STRICT

    email: Word
    category: Word | None = None


class RemoveQuery(BaseModel):
    """What is taken off, and why."""

    model_config = _STRICT

    category: Annotated[Word | None, Field(description="Only of this; all without")] = None
    why: Annotated[
        Word | None, Field(description="Needed where the address bounced or complained")
    ] = None


class ImportQuery(BaseModel):
    """How a list is taken in."""

    model_config = _STRICT

    reason: Annotated[ReasonWord | None, Field(description="Of lines that name none")] = None
    dry_run: bool = False


class ExportQuery(BaseModel):
    """How a list is given out."""

    model_config = _STRICT

    format: Format = Format.CSV
    reason: ReasonWord | None = None
    category: Word | None = None


@dataclass(frozen=True, slots=True)
class ShownSuppression:
    """An address that is not written to; category "": none of its mail."""

    email: str
    email_hash: str
    reason: Reason
    category: str
    detail: str | None
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class AddedSuppression:
    """What became of one address, in the order they were given."""

    email: str
    email_hash: str
    status: Outcome


@dataclass(frozen=True, slots=True)
class AddedSuppressions:
    """What became of all."""

    data: list[AddedSuppression]


@dataclass(frozen=True, slots=True)
class CheckedSuppression:
    """Whether an address is written to, and all that is in force for it."""

    email: str
    email_hash: str
    suppressed: bool
    reason: Reason | None
    suppressions: list[ShownSuppression]


@dataclass(frozen=True, slots=True)
class RemovedSuppression:
    """An address that is written to again, and how many suppressions ended."""

    email: str
    email_hash: str
    removed: int


@dataclass(frozen=True, slots=True)
class ImportedSuppressions:
    """What became of a list; of the bad lines the first thousand are told."""

    added: int
    renewed: int
    there_already: int
    bad: int
    errors: list[BadLine]
    dry_run: bool
