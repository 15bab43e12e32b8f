"""Webhooks, their event types and deliveries. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from mailqueue.core.secret import Secret


class EventType(StrEnum):
    """An event that a webhook can receive."""

    QUEUED = "email.queued"
    SENT = "email.sent"  # the provider or the receiving server accepted it
    DELIVERED = "email.delivered"
    DEFERRED = "email.deferred"
    SOFT_BOUNCE = "email.soft_bounce"
    HARD_BOUNCE = "email.hard_bounce"
    COMPLAINT = "email.complaint"
    OPENED = "email.opened"
    CLICKED = "email.clicked"
    UNSUBSCRIBED = "email.unsubscribed"
    RESUBSCRIBED = "email.resubscribed"
    FAILED = "email.failed"
    SUPPRESSED = "email.suppressed"
    EXPIRED = "email.expired"
    CANCELLED = "email.cancelled"
    HELD = "email.held"
    RESOLVED = "email.resolved"
    NOTICE = "project.notice"


MEANING_BY_TYPE: Mapping[EventType, str] = {
    EventType.QUEUED: "The email is queued: it was accepted or requeued.",
    EventType.SENT: "The receiving server or the provider accepted the email.",
    EventType.DELIVERED: "The recipient's mail server accepted the email, as the provider reports.",
    EventType.DEFERRED: "The email was refused temporarily and will be retried.",
    EventType.SOFT_BOUNCE: "The email bounced for a reason that does not make the address invalid.",
    EventType.HARD_BOUNCE: "The email bounced because the address does not exist.",
    EventType.COMPLAINT: "The recipient marked the email as spam.",
    EventType.OPENED: "The email was opened; is_machine is true if software opened it.",
    EventType.CLICKED: "A link in the email was followed; url is its target.",
    EventType.UNSUBSCRIBED: "The recipient unsubscribed from the email's category, or from all.",
    EventType.RESUBSCRIBED: "The recipient subscribed again.",
    EventType.FAILED: "The email failed and is not retried; reason names the cause.",
    EventType.SUPPRESSED: "The email was not sent because the address is suppressed.",
    EventType.EXPIRED: "The email expired before it could be sent.",
    EventType.CANCELLED: "The email was cancelled before it was sent.",
    EventType.HELD: "The email is held and waits for an operator's decision.",
    EventType.RESOLVED: "An email with unknown outcome was resolved as sent or not sent.",
    EventType.NOTICE: "A notice for administrators of the project, such as too many bounces.",
}
TEST_TYPE = "webhook.test"
"""The default type of a test event; every webhook receives it."""

TIMED_EVENT = "timed_event.due"
"""The type of timed events; only the webhook that such an event names receives it."""


class DeliveryStatus(StrEnum):
    """Status of a delivery."""

    PENDING = "pending"
    ASSIGNED = "assigned"
    DELIVERED = "delivered"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = (DeliveryStatus.DELIVERED, DeliveryStatus.FAILED, DeliveryStatus.CANCELLED)


@dataclass(frozen=True, slots=True)
class WebhookRow:
    """One endpoint of a project, and how it answers; `circuit` as in view webhook_status."""

    id: UUID
    project_id: UUID
    project: str
    url: str
    description: str | None
    event_types: list[str]  # empty: all
    is_enabled: bool
    disabled_at: datetime | None
    disabled_reason: str | None
    circuit: str
    failures: int
    failing_since: datetime | None
    blocked_until: datetime | None
    previous_until: datetime | None  # until then an older secret signs, too
    format: str
    public_key: str | None  # None: requests are not signed by a key pair
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class WithSecret:
    """A webhook and its secret, which is shown this once."""

    webhook: WebhookRow
    secret: Secret


@dataclass(frozen=True, slots=True)
class WebhookKeys:
    """URL and sealed secrets of a webhook."""

    id: UUID
    project_id: UUID
    revision: int
    url: str
    is_enabled: bool
    sealed_secret: bytes = field(repr=False)
    sealed_secret_previous: bytes | None = field(repr=False)
    previous_seconds: float | None  # how long the previous one still signs
    format: str


@dataclass(frozen=True, slots=True)
class EmailFacts:
    """What events in the format of a provider say about their email.

    `first_id` is the id that its request was answered with. Each recipient is a list of kind,
    address and name.
    """

    id: UUID
    first_id: UUID
    created_at: datetime
    from_email: str | None
    from_name: str | None
    subject: str | None
    headers: dict[str, Any] | None
    message_id: str | None
    recipients: list[list[Any]]
    is_bounced: bool


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """One event for one webhook, and the state of its delivery."""

    id: UUID
    webhook_id: UUID
    event_id: UUID
    type: str
    status: str
    attempts: int
    max_attempts: int
    run_at: datetime
    last_code: int | None
    last_error: str | None
    email_id: UUID | None
    is_test: bool  # of test mail
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class DeliveryOfEmail:
    """An event of an email for one webhook, and the state of its delivery."""

    id: UUID
    webhook_id: UUID
    url: str
    type: str
    status: str
    attempts: int
    last_code: int | None
    last_error: str | None
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    """Conditions for rows of the delivery log; None matches every row."""

    status: str | None = None
    type: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    email_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class DeliveryAttemptRow:
    """One call of an endpoint; `response` is the first 4 kB of what it answered."""

    attempt: int
    tried_at: datetime
    status_code: int | None
    error: str | None
    took_ms: int
    request_headers: dict[str, str]
    response: str | None


@dataclass(frozen=True, slots=True)
class DeliveryLog:
    """A delivery, what was sent and every attempt; `payload` None: it was erased."""

    delivery: DeliveryRow
    payload: Mapping[str, Any] | None
    attempts: list[DeliveryAttemptRow]


class ClaimedDelivery(NamedTuple):
    """A claimed delivery, which this worker may make until its lease ends."""

    id: UUID
    claim_no: int
    webhook_id: UUID
    project_id: UUID
    event_id: UUID
    type: str
    attempts: int
    revision: int | None = None
    """Revision of the endpoint; None: it is deleted."""
    payload: str | None = None
    """None: it is no longer stored."""
    facts: EmailFacts | None = None
    """Its email, for formats of providers; None: it is not needed, or no longer stored."""
    is_traced: bool = False
    """Its call is exported as a span, if its email has the context of a sampled trace."""


class DeliveryPayload(NamedTuple):
    """What a claimed delivery sends, and the revision of its endpoint.

    None as in ClaimedDelivery.
    """

    id: UUID
    revision: int | None
    payload: str | None


class SettledCall(NamedTuple):
    """A delivery whose claim no longer holds, or else an endpoint that is left alone now."""

    id: UUID
    is_lost: bool


class CallOutcome(StrEnum):
    """Outcome of one call of an endpoint."""

    DELIVERED = "delivered"
    FAILED = "failed"
    GONE = "gone"  # 410: the endpoint wants no more events


class CallResult(NamedTuple):
    """One call of an endpoint and its response.

    `wait` is the minimum wait before the next attempt; with `rests` it holds for all deliveries
    of the endpoint.
    """

    outcome: CallOutcome
    tried_at: datetime
    took_ms: int
    headers: Mapping[str, str]
    code: int | None = None
    error: str | None = None
    wait: timedelta | None = None
    rests: bool = False
    response: str | None = None
