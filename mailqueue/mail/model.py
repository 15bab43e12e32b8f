"""A claimed email, its content, its mark and its outcome. Values only.

Values made for every email are tuples: a frozen dataclass takes ten times as long to make.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.mime.files import MessageFile
from mailqueue.mime.skeleton import MessageContent
from mailqueue.templates.cache import CachedVersion
from mailqueue.tracking.injector import Injection


class ClaimedEmail(NamedTuple):
    """A row of the queue that this worker holds under `claim_no`."""

    id: UUID
    claim_no: int
    assigned_to: int  # sender account whose headroom is reserved
    account_revision: int
    project_id: UUID
    attempts: int  # this one included
    recipients: int  # still to be sent to
    unknowns: int
    expires_at: datetime
    category: str
    recipient_email: str
    recipient_name: str | None
    custom_data: Any
    content_id: int
    content_on: date


class EmailContent(NamedTuple):
    """Subject, bodies and headers that one or many emails share."""

    id: int
    subject: str
    html_body: str | None
    text_body: str | None
    from_email: str | None
    from_name: str | None
    reply_to: str | None
    headers: dict[str, str] | None
    files: list[dict[str, Any]] | None = None  # as email_contents.files has them
    template_version_id: UUID | None = None  # rendered from it: subject is the template's
    template_language: str | None = None
    tracking_options: int | None = None  # as in email_contents.tracking_options
    header_recipients: dict[str, list[str]] | None = None  # of one of the mails of a split message

    @property
    def header_fields(self) -> tuple[tuple[str, str], ...]:
        """Return the custom headers in order.

        Raises:
            ValueError: they are not an object of names and texts.
        """
        if not self.headers:
            return ()
        if not isinstance(self.headers, dict):
            raise ValueError("its headers cannot be read")
        if wrong := [name for name, value in self.headers.items() if not isinstance(value, str)]:
            raise ValueError(f"its header {wrong[0]} is no text")
        return tuple(self.headers.items())


@dataclass(frozen=True, slots=True)
class EmailRecipient:
    """One recipient of a message that has several."""

    email_id: UUID
    kind: str  # to, cc, bcc
    address: str
    name: str | None
    status: str


class StoredFile(NamedTuple):
    """The bytes of a file, or its location in a folder or bucket with its size and checksum."""

    id: UUID
    octets: bytes | None
    location: str | None
    sha256: bytes
    bytes: int


class FileFault(NamedTuple):
    """Why a message cannot be built; `is_lasting` if waiting does not help."""

    reason: str
    is_lasting: bool


class RawMessage(NamedTuple):
    """A finished message; bounces of one with a null sender go nowhere."""

    octets: bytes
    has_null_sender: bool


class LoadedEmail(NamedTuple):
    """A claimed email with what building its message takes; `recipients` only if it has several."""

    claim: ClaimedEmail
    content: EmailContent | None  # None: deleted
    recipients: tuple[EmailRecipient, ...] = ()
    files: tuple[MessageFile, ...] = ()  # fetched right before building: they may be large
    tags: tuple[str, ...] = ()  # read only for accounts whose provider reports by them
    template: CachedVersion | None = (
        None  # what it is rendered from; None: nothing, or it was deleted
    )
    fault: FileFault | None = None  # why its message cannot be built
    tracked: Injection | None = None  # its content with tracking, sent instead of `content`
    rendered: MessageContent | None = None  # its content, rendered from its template
    raw: RawMessage | None = None  # it was accepted as a finished message; fetched as files are


@dataclass(frozen=True, slots=True)
class NewBatch:
    """A batch: contents, options for all, and recipients.

    A content has what enqueue_batch() takes of a message except the recipient and the options, or
    template_version_id and template_language. A recipient has `recipient`, an address, `name`,
    `custom_data`, `tags` in place of those of all, and `content`, an index into the contents (else
    0); or `refused`, the reason it was refused.
    """

    contents: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any]
    recipients: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class BatchRow:
    """The result of accepting one message of a batch; `id` is None if it was refused."""

    index: int
    id: UUID | None
    status: str  # queued, suppressed, duplicate, rejected
    reason: str | None
    refusal: str | None = None  # code of a refusal that has one


class MarkVerdict(StrEnum):
    """What the last check before sending found."""

    GO = "go"
    LOST = "lost"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    SUPPRESSED = "suppressed"
    PAUSED = "paused"


class Mark(NamedTuple):
    """The last check of one email; `stopped` are its recipients suppressed since it was claimed."""

    id: UUID
    verdict: MarkVerdict
    reason: str | None = None
    stopped: tuple[str, ...] = ()


class Marks(NamedTuple):
    """The last check of the emails of one commit; an email that is not `named` may be sent."""

    named: dict[UUID, Mark]
    are_lost: bool = False  # the worker was declared lost: nothing may be sent

    def of(self, email_id: UUID) -> Mark:
        """Return the mark of one of the emails that were checked."""
        if self.are_lost:
            return Mark(email_id, MarkVerdict.LOST)
        return self.named.get(email_id) or Mark(email_id, MarkVerdict.GO)


class Ending(StrEnum):
    """What settling an email does to its row."""

    SENT = "sent"
    FAILED = "failed"
    SUPPRESSED = "suppressed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    RETRY = "retry"  # counted, back to the lane
    DEFER = "defer"  # not counted, back to the lane
    UNKNOWN = "unknown"  # the mail's own policy decides


class LogStatus(StrEnum):
    """The status of an attempt in send_logs."""

    SENT = "sent"
    FAILED = "failed"
    BOUNCED = "bounced"
    REJECTED = "rejected"
    DEFERRED = "deferred"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RecipientOutcome:
    """The outcome of one recipient of a message with several."""

    address: str
    status: str  # sent, failed, suppressed
    reason: str | None
    code: str | None
    hard: bool


class SendStages(NamedTuple):
    """When a worker claimed an email, composed its message and had its answer.

    Seconds of the monotonic clock.
    """

    claimed: float
    begun: float
    composed: float
    answered: float


class SendOutcome(NamedTuple):
    """The outcome of one claimed email.

    `wait` None returns an email to its old place. `spent` is the number of recipients that count
    against limits, `left` of those still to be sent to (None: as before). `log` None: no attempt
    was made. `conversation` is the record of an attempt that was not accepted, as JSON. `stages`:
    of an email whose spans are exported.
    """

    id: UUID
    claim_no: int
    ending: Ending
    reason: str | None = None
    wait: timedelta | None = None
    spent: int = 0
    left: int | None = None
    log: LogStatus | None = None
    message_id: str | None = None
    provider_message_id: str | None = None
    code: str | None = None
    enhanced: str | None = None
    reply: str | None = None
    response_ms: int | None = None
    hard: bool = False
    recipients: tuple[RecipientOutcome, ...] = ()
    conversation: str | None = None
    stages: SendStages | None = None
