"""Request bodies and queries of suppressions."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, model_validator

from mailqueue.api.http.pagination import PageQuery
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.suppression.lists.exporting import Format

SuppressionText = Annotated[str, Field(max_length=998)]
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


class _SuppressionFields(RequestModel):
    reason: ReasonWord | None = None
    """Reason; `unsubscribe` is another spelling of `unsubscribed`; `manual` if omitted."""
    category: SuppressionText | None = None
    """Suppress mail of this category only, such as `marketing`; all mail if omitted."""
    detail: SuppressionText | None = None
    """Explanation for people."""
    expires_at: datetime | None = None
    """Time at which it expires: RFC 3339, `2030-05-01T08:00:00Z`; never if omitted."""

    @property
    def until(self) -> str | None:
        return None if self.expires_at is None else self.expires_at.isoformat()


class SuppressionItem(_SuppressionFields):
    """One address with its own fields."""

    email: SuppressionText
    """The address, such as `ann@example.com`."""


class AddSuppressions(_SuppressionFields):
    """Addresses to suppress, and the default values of their fields."""

    email: SuppressionText | None = None
    """One address; give either this or `emails`."""
    emails: list[SuppressionText | SuppressionItem] = Field(default_factory=list, max_length=1_000)
    """Up to 1,000 addresses, each a string or an object with fields of its own."""

    @model_validator(mode="after")
    def _has_some(self) -> "AddSuppressions":
        if bool(self.emails) == (self.email is not None):
            raise ValueError("give email, or emails with at least one")
        return self


class SuppressionsQuery(PageQuery):
    """Filters of suppressions."""

    reason: ReasonWord | None = None
    """Filter by reason."""
    category: SuppressionText | None = None
    """Filter by category."""
    q: SuppressionText | None = None
    """Filter by text in the address, such as `@example.com`."""


class CheckQuery(RequestModel):
    """The address to check."""

    email: SuppressionText
    """The address to check."""
    category: SuppressionText | None = None
    """Check mail of this category; mail of every category if omitted."""


class RemoveQuery(RequestModel):
    """Suppressions to remove, and the reason."""

    category: SuppressionText | None = None
    """Remove only the suppression of this category; all of them if omitted."""
    why: SuppressionText | None = None
    """Reason; required where the address bounced or complained."""


class ImportQuery(RequestModel):
    """Options of an import."""

    reason: ReasonWord | None = None
    """Reason of lines without one; `manual` if omitted."""
    dry_run: bool = False
    """Validate and count every line, and change nothing."""


class BeginSuppressionImportQuery(RequestModel):
    """What an import in the background does."""

    reason: ReasonWord | None = None
    """Reason of lines without one; `manual` if omitted."""


class ExportQuery(RequestModel):
    """Options of an export."""

    format: Format = Format.CSV
    """`csv`, or `json`: one array."""
    reason: ReasonWord | None = None
    """Filter by reason."""
    category: SuppressionText | None = None
    """Filter by category."""
