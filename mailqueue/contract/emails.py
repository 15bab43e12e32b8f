"""An email, its recipients, the attempts to send it and its events."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class Acted(Value):
    """Result of a request to cancel, hold, release or resend an email."""

    id: UUID
    """Id of the email that is queued now: a new one where it was sent once more."""
    result: str
    """What was done, such as `cancelled`, `held`, `released`, `resent` or `requeued`."""


@dataclass(frozen=True, slots=True)
class Recipient(Value):
    """One recipient of an email, and the outcome."""

    kind: str
    """`to`, `cc` or `bcc`."""
    address: str
    name: str | None
    status: str
    reason: str | None
    reply_code: str | None
    """Code of the server's last reply for this recipient, such as `550`."""
    settled_at: datetime | None
    """When the outcome was recorded; null while it is pending."""


@dataclass(frozen=True, slots=True)
class ConversationLine(Value):
    """One line that the server or this program said."""

    ms: int
    """Milliseconds since the connection was made; over HTTP since the first request."""
    by: str
    """`client` for this program, `server`, or `note` for what happened to the connection."""
    text: str


@dataclass(frozen=True, slots=True)
class AttemptConversation(Value):
    """What was said at an attempt, without the message and without credentials.

    At most 8 KiB; where lines are left out, a note says how many.
    """

    protocol: str
    """`smtp` or `http`."""
    lines: Sequence[ConversationLine]
    body: str | None = None
    """Beginning of an HTTP reply's body, at most 1,024 bytes; it may quote the message."""


@dataclass(frozen=True, slots=True)
class Attempt(Value):
    """One attempt to hand an email over, with the server's reply."""

    attempt: int
    """Number of the attempt, from 1."""
    sent_at: datetime
    status: str
    recipient_email: str
    sender: str | None
    """Name of the sender account."""
    code: str | None
    """Code of the reply, such as `250`, or of the failure."""
    enhanced_code: str | None
    """Enhanced status code (RFC 3463), such as `5.1.1`."""
    reply: str | None
    """Text of the reply."""
    response_ms: int | None
    """Milliseconds until the server replied."""
    conversation: AttemptConversation | None
    """What was said, if the server did not accept the email; else null."""


@dataclass(frozen=True, slots=True)
class LoggedAttempt(Attempt):
    """An attempt as operators see it."""

    worker_id: int | None
    """Id of the worker process."""


@dataclass(frozen=True, slots=True)
class Event(Value):
    """Something that happened to an email after it was handed over."""

    id: UUID
    occurred_at: datetime
    type: str
    """Type of the event, such as `delivered`, `hard_bounce` or `opened`."""
    recipient_email: str | None
    source: str | None
    """Source of the report, such as `ses`, `dsn` or `tracking`; null for this installation."""
    code: str | None
    detail: str | None
    data: Any
    """Further facts of the event, such as the `url` of a click."""


@dataclass(frozen=True, slots=True)
class RecordedEvent(Event):
    """An event as operators see it, of an email of any project."""

    project: str
    email_id: UUID
    sender: str | None
    """Name of the sender account."""
    suppresses: str | None
    """Reason for which the recipient is suppressed because of it."""


@dataclass(frozen=True, slots=True)
class RecipientEvent(Value):
    """Something that happened to an email to one address: `accepted`, `sent`, or an event."""

    id: UUID
    occurred_at: datetime
    type: str
    """`accepted`, `sent`, or the type of the event."""
    email_id: UUID
    subject: str | None
    campaign_id: str | None
    source: str | None
    """Source of the report, such as `ses`, `dsn` or `tracking`; null for this installation."""
    code: str | None
    detail: str | None
    data: Any
    """Further facts of the event, such as the `url` of a click."""


@dataclass(frozen=True, slots=True)
class Moment(Value):
    """One entry of an email's timeline."""

    at: datetime
    what: str
    """A state, an event, or `attempt_` with the attempt's status."""
    recipient: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class ListedEmail(Value):
    """One email of a list."""

    id: UUID
    status: str
    reason: str | None
    priority: str
    category: str
    from_email: str | None
    recipient_email: str
    recipient_name: str | None
    recipients: int
    """Number of recipients while it is queued; 1 where it is finished and had only one."""
    subject: str | None
    campaign_id: str | None
    tags: Sequence[str] | None
    sender: str | None
    """Name of the sender account."""
    attempts: int
    """Number of attempts so far."""
    created_at: datetime
    scheduled_at: datetime | None
    """Earliest instant of the next attempt; null once it is finished."""
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Email(Value):
    """An email with its status and history."""

    id: UUID
    status: str
    why: str
    """Why it is in this status, in a sentence."""
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
    tags: Sequence[str] | None
    custom_data: Any
    sender: str | None
    """Name of the sender account."""
    attempts: Sequence[Attempt]
    """Attempts to hand it over, oldest first: the newest 200. The newest 20 have `conversation`."""
    has_more_attempts: bool
    """Whether there were attempts before those in `attempts`."""
    max_attempts: int
    delivery: str
    """Action if it is unknown whether the server accepted the email: `resend` or `hold`."""
    message_id: str | None
    """Message-ID of its header."""
    provider_message_id: str | None
    created_at: datetime
    run_at: datetime | None
    """The same as `scheduled_at`."""
    expires_at: datetime
    finished_at: datetime | None
    attempt_count: int
    recipients: Sequence[Recipient]
    events: Sequence[Event]
    """What happened after it was handed over, oldest first: the newest 100."""
    more_events: str | None
    """Path of the list of all events where `events` lacks some, else null."""
    scheduled_at: datetime | None
    """Earliest instant of the next attempt; null once it is finished."""
    timeline: Sequence[Moment]
    """What happened to it, oldest first: accepted, attempts, and `events`."""


@dataclass(frozen=True, slots=True)
class OperatorEmail(Email):
    """An email as operators see it, of any project."""

    attempts: Sequence[LoggedAttempt]
    project: str
