"""Results of requests to send: of one email, of a batch, of an uploaded file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailqueue.contract.suppression import BadLine
from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class Sent(Value):
    """Result of a request to send: queued, or suppressed with the reason."""

    id: UUID
    """Id of the email; of the batch where the status is `expanding`."""
    status: str
    """`queued`, or `suppressed`; `sent`, `failed` or `held` where it was sent at once; `expanding`
    where the recipient is the name of a list, whose emails workers make.
    """
    reason: str | None
    """Why it was suppressed or failed; null for other emails."""


@dataclass(frozen=True, slots=True)
class Repeated(Sent):
    """The same, of an email that an earlier request with the same idempotency key sent."""


@dataclass(frozen=True, slots=True)
class SentAndExplained(Sent):
    """The same, and why the email is in this status."""

    why: str


@dataclass(frozen=True, slots=True)
class EnqueuedFile(Value):
    """Number of lines of a CSV file by outcome."""

    queued: int
    suppressed: int
    there_already: int
    bad: Sequence[BadLine]
    dry_run: bool


@dataclass(frozen=True, slots=True)
class BatchResult(Value):
    """Result for one recipient: queued, suppressed, rejected, or expanding for a list."""

    index: int
    """Place among the recipients of the request, from 0."""
    email: str
    id: UUID | None
    """Id of the email; null where the recipient was rejected."""
    status: str
    """`queued`, `suppressed` or `rejected`; `expanding` where it is the name of a list."""
    reason: str | None


@dataclass(frozen=True, slots=True)
class Batch(Value):
    """Result of a batch; `results` has every recipient, in order."""

    batch_id: UUID
    accepted: int
    """Number of recipients whose email is queued."""
    rejected: int
    suppressed: int
    email_ids: Sequence[UUID]
    """Ids of the emails, queued or suppressed, in the order of the recipients."""
    results: Sequence[BatchResult]
    warnings: Sequence[str] = ()
    """Sentences about options that a batch may have but seldom should, such as `cc`."""


@dataclass(frozen=True, slots=True)
class BatchList(Value):
    """A list among the recipients of a batch, and how far workers are with its email."""

    list: str
    state: str
    """`waiting`, `running`, `stopping`, `done`, `stopped` or `failed`."""
    contacts: int
    """Contacts that were in the list when workers began, but those of another list of the batch."""
    accepted: int
    suppressed: int
    rejected: int
    withdrawn: int
    """Contacts that were removed before their email was made."""
    error: str | None


@dataclass(frozen=True, slots=True)
class BatchState(Value):
    """A batch, and the number of its emails in each status."""

    id: UUID
    created_at: datetime
    created_by: str
    subject: str | None
    recipients: int
    rejected: int
    counts: Mapping[str, int]
    """Number of emails by status."""
    lists: Sequence[BatchList] = ()
    """Lists of contacts among its recipients."""


@dataclass(frozen=True, slots=True)
class ActedBatch(Value):
    """Result of a request to cancel, hold or release the emails of a batch."""

    id: UUID
    results: Mapping[str, int]
    """Number of emails by what was done: `cancelled`, `cancelling`, `held` or `released`."""
    counts: Mapping[str, int]
    """Number of the batch's emails by status, afterwards."""


@dataclass(frozen=True, slots=True)
class Uploaded(Value):
    """A file that emails attach by its `id`."""

    id: UUID
    filename: str
    content_type: str
    bytes: int
    """Size in bytes."""
    sha256: str
    """SHA-256 of the content, in hexadecimal."""
