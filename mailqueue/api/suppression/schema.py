"""What is asked and answered about suppressions."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, model_validator

from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import Given
from mailqueue.suppression.lists.exporting import Format

Word = Annotated[str, Field(max_length=998)]
ReasonWord = Literal[
    "hard_bounce",
    "soft_bounce_threshold",
    "complaint",
    "unsubscribed",
    "unsubscribe",
    "paused",
    "manual",
]
"""`unsubscribe` is another spelling of `unsubscribed`."""


class _Said(Given):
    reason: ReasonWord | None = None
    """Why it is on the list; `unsubscribe` is another spelling of `unsubscribed`, `manual`
    holds if left out.
    """
    category: Word | None = None
    """Stops mail of this category only, such as `marketing`; all mail if left out."""
    detail: Word | None = None
    """Why, in words for people."""
    expires_at: datetime | None = None
    """When it is over by itself: RFC 3339, `2030-05-01T08:00:00Z`; never if left out."""

    @property
    def until(self) -> str | None:
        return None if self.expires_at is None else self.expires_at.isoformat()


class SuppressionItem(_Said):
    """One address with what holds for it alone."""

    email: Word
    """The address, such as `ann@example.com`."""


class AddSuppressions(_Said):
    """Addresses to write to no more, and what holds for those that say nothing else."""

    email: Word | None = None
    """One address; give either this or `emails`."""
    emails: list[Word | SuppressionItem] = Field(default_factory=list, max_length=1_000)
    """Up to 1,000 addresses, each alone or as an object with fields of its own."""

    @model_validator(mode="after")
    def _has_some(self) -> "AddSuppressions":
        if bool(self.emails) == (self.email is not None):
            raise ValueError("give email, or emails with at least one")
        return self


class SuppressionsQuery(PageQuery):
    """Which suppressions are listed."""

    reason: ReasonWord | None = None
    """Only those with this reason."""
    category: Word | None = None
    """Only those of this category."""
    q: Word | None = None
    """Text in the address, such as `@example.com`."""


class CheckQuery(Given):
    """Whom to look for."""

    email: Word
    """The address to look for."""
    category: Word | None = None
    """Whether mail of this category is stopped; mail of every category if left out."""


class RemoveQuery(Given):
    """What is taken off, and why."""

    category: Word | None = None
    """Only the suppression of this category; all of them if left out."""
    why: Word | None = None
    """Why; needed where the address bounced or complained."""


class ImportQuery(Given):
    """How a list is taken in."""

    reason: ReasonWord | None = None
    """Reason of lines that name none; `manual` unless given."""
    dry_run: bool = False
    """Read and count every line, and change nothing."""


class ExportQuery(Given):
    """How a list is given out."""

    format: Format = Format.CSV
    """`csv`, or `json`: one array."""
    reason: ReasonWord | None = None
    """Only those with this reason."""
    category: Word | None = None
    """Only those of this category."""
