"""What the API answers, as values. Fields that a newer server adds are left out."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.contract import sending
from mailqueue.contract.emails import (
    Acted,
    Attempt,
    Email,
    Event,
    ListedEmail,
    Moment,
    Recipient,
)
from mailqueue.contract.page import Page
from mailqueue.contract.sending import Batch, BatchResult, BatchState, Uploaded

__all__ = [
    "Acted",
    "AddedSuppression",
    "Attempt",
    "Batch",
    "BatchResult",
    "BatchState",
    "CheckedSuppression",
    "Email",
    "Event",
    "ListedEmail",
    "Moment",
    "Page",
    "Preview",
    "Recipient",
    "RemovedSuppression",
    "Sent",
    "Suppression",
    "Template",
    "TemplateVersion",
    "Uploaded",
]


@dataclass(frozen=True, slots=True)
class Sent(sending.Sent):
    """What became of an email: queued, or suppressed with the reason."""

    is_repeated: bool = False
    """Whether an earlier request under the same key brought it."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """An address that is not written to; category "": none of its mail."""

    email: str
    email_hash: str
    reason: str
    category: str
    detail: str | None
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class AddedSuppression:
    """What became of one address."""

    email: str
    email_hash: str
    status: str


@dataclass(frozen=True, slots=True)
class CheckedSuppression:
    """Whether an address is written to, and all that is in force for it."""

    email: str
    email_hash: str
    suppressed: bool
    reason: str | None
    suppressions: tuple[Suppression, ...]


@dataclass(frozen=True, slots=True)
class RemovedSuppression:
    """An address that is written to again, and how many suppressions ended."""

    email: str
    email_hash: str
    removed: int


@dataclass(frozen=True, slots=True)
class Template:
    """A template; `is_platform`: it is everybody's."""

    id: UUID
    slug: str
    name: str
    description: str | None
    category: str
    language: str
    is_platform: bool
    published_version: int | None
    newest_version: int | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class TemplateVersion:
    """A version of a template, without its words."""

    id: UUID
    version: int
    status: str
    languages: tuple[str, ...]
    variables_schema: dict[str, Any] | None
    created_at: datetime
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a mail from a template would say."""

    version: int
    language: str
    subject: str
    html_body: str | None
    text_body: str
    size_bytes: int
    warnings: tuple[str, ...]
