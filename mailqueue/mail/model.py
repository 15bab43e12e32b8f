"""What a claimed mail is, what it says, and what became of it. Values only.

What is made for every mail is a tuple: a frozen dataclass takes ten times as long to make.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.mime.files import File
from mailqueue.templates.cache import Sheet
from mailqueue.tracking.injector import Dress


class ClaimedEmail(NamedTuple):
    """One row of the queue that this worker holds under `claim_no`."""

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
    """What one or many mails say."""

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
    dressing: int | None = None  # as email_contents.dressing has it
    header_recipients: dict[str, list[str]] | None = None  # of one of the mails of a split message

    @property
    def header_fields(self) -> tuple[tuple[str, str], ...]:
        """Return the further headers in order.

        Raises:
            ValueError: they are no object of names and values.
        """
        if not self.headers:
            return ()
        if not isinstance(self.headers, dict):
            raise ValueError("its headers cannot be read")
        if wrong := [name for name, value in self.headers.items() if not isinstance(value, str)]:
            raise ValueError(f"its header {wrong[0]} is no text")
        return tuple(self.headers.items())


@dataclass(frozen=True, slots=True)
class Recipient:
    """One recipient of a message that has several."""

    email_id: UUID
    kind: str  # to, cc, bcc
    address: str
    name: str | None
    status: str


class StoredFile(NamedTuple):
    """The octets of a file, or their place in a folder or bucket and what they have to be."""

    id: UUID
    octets: bytes | None
    location: str | None
    sha256: bytes
    bytes: int


class FileFault(NamedTuple):
    """Why a file does not come; `is_lasting`: waiting does not help."""

    reason: str
    is_lasting: bool


class RawMessage(NamedTuple):
    """A finished message; nobody is told that one with a null sender did not arrive."""

    octets: bytes
    has_null_sender: bool


class Parcel(NamedTuple):
    """A claimed mail with all that is needed to compose it; `recipients` only where several."""

    email: ClaimedEmail
    content: EmailContent | None  # None: it was deleted
    recipients: tuple[Recipient, ...] = ()
    files: tuple[File, ...] = ()  # fetched right before composing: they may be large
    tags: tuple[str, ...] = ()  # read only for accounts whose provider counts by them
    sheet: Sheet | None = None  # what it is rendered from; None: it says all itself, or it is gone
    fault: FileFault | None = None  # one of its files does not come
    dress: Dress | None = None  # what goes out instead of its content
    raw: RawMessage | None = None  # it came finished; fetched as files are


@dataclass(frozen=True, slots=True)
class BatchRow:
    """What became of one message of a batch; `id` None when it was refused."""

    index: int
    id: UUID | None
    status: str  # queued, suppressed, duplicate, rejected
    reason: str | None


class MarkVerdict(StrEnum):
    """What the last look before handing over found."""

    GO = "go"
    LOST = "lost"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    SUPPRESSED = "suppressed"
    PAUSED = "paused"


class Mark(NamedTuple):
    """The last look at one mail; `stopped` are its recipients that are suppressed by now."""

    id: UUID
    verdict: MarkVerdict
    reason: str | None = None
    stopped: tuple[str, ...] = ()


class Marks(NamedTuple):
    """The last look at the mails of one commit; who is not `named` may go as it is."""

    named: dict[UUID, Mark]
    are_lost: bool = False  # the worker was declared lost: nothing may go

    def of(self, email_id: UUID) -> Mark:
        """Return what was found about one of the mails that were asked about."""
        if self.are_lost:
            return Mark(email_id, MarkVerdict.LOST)
        return self.named.get(email_id) or Mark(email_id, MarkVerdict.GO)


class Ending(StrEnum):
    """What settling a mail does to its row."""

    SENT = "sent"
    FAILED = "failed"
    SUPPRESSED = "suppressed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    RETRY = "retry"  # counted, back to the lane
    DEFER = "defer"  # not counted, back to the lane
    UNKNOWN = "unknown"  # the mail's own policy decides


class LogStatus(StrEnum):
    """How an attempt stands in send_logs."""

    SENT = "sent"
    FAILED = "failed"
    BOUNCED = "bounced"
    REJECTED = "rejected"
    DEFERRED = "deferred"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RecipientSettlement:
    """What became of one recipient of a message with several."""

    address: str
    status: str  # sent, failed, suppressed
    reason: str | None
    code: str | None
    hard: bool


class Settlement(NamedTuple):
    """What became of one claimed mail.

    `wait` None puts a mail back at its old place. `spent` counts the recipients that count against
    the limits, `left` those still to be sent to (None: as before). `log` None: nothing was tried.
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
    recipients: tuple[RecipientSettlement, ...] = ()
