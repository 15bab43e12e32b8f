"""What the API answers, as values. What it says beyond this is left out."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of a mail: queued, or suppressed with the reason.

    `is_repeated`: a request before, under the same key, brought it.
    """

    id: UUID
    status: str
    reason: str | None
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What became of one recipient: queued, suppressed or rejected."""

    index: int
    email: str
    id: UUID | None
    status: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Batch:
    """What became of a batch; `results` has every recipient, in order."""

    batch_id: UUID
    accepted: int
    rejected: int
    suppressed: int
    email_ids: tuple[UUID, ...]
    results: tuple[BatchResult, ...]


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch, and how many of its mails are in each state by now."""

    id: UUID
    created_at: datetime
    subject: str | None
    recipients: int
    rejected: int
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Recipient:
    """One recipient of a mail and what became of it."""

    kind: str
    address: str
    name: str | None
    status: str
    reason: str | None
    reply_code: str | None
    settled_at: datetime | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to hand a mail over, with the server's reply."""

    attempt: int
    sent_at: datetime
    status: str
    recipient_email: str
    sender: str | None
    code: str | None
    enhanced_code: str | None
    reply: str | None
    response_ms: int | None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a mail after it was handed over."""

    occurred_at: datetime
    type: str
    recipient_email: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class Moment:
    """What happened to a mail, in the list of all that did."""

    at: datetime
    what: str
    recipient: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class ListedEmail:
    """One mail of a list."""

    id: UUID
    status: str
    reason: str | None
    priority: str
    category: str
    from_email: str | None
    recipient_email: str
    recipient_name: str | None
    recipients: int
    subject: str | None
    campaign_id: str | None
    tags: tuple[str, ...] | None
    sender: str | None
    attempts: int
    created_at: datetime
    scheduled_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Email:
    """A mail and what became of it; `timeline` has all that happened, in order."""

    id: UUID
    status: str
    why: str
    reason: str | None
    priority: str
    category: str
    from_email: str | None
    from_name: str | None
    reply_to: str | None
    recipient_email: str
    recipient_name: str | None
    subject: str | None
    campaign_id: str | None
    tags: tuple[str, ...] | None
    custom_data: Any
    sender: str | None
    attempt_count: int
    max_attempts: int
    delivery: str
    message_id: str | None
    provider_message_id: str | None
    created_at: datetime
    scheduled_at: datetime | None
    expires_at: datetime
    finished_at: datetime | None
    recipients: tuple[Recipient, ...]
    attempts: tuple[Attempt, ...]
    events: tuple[Event, ...]
    timeline: tuple[Moment, ...]


@dataclass(frozen=True, slots=True)
class Acted:
    """What was done; `id` is that of the mail that is queued now, another where it was resent."""

    id: UUID
    result: str


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


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A file that mails can carry by its `id`."""

    id: UUID
    filename: str
    content_type: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list; `next_cursor` is None where nothing comes after."""

    data: tuple[T, ...]
    next_cursor: str | None
