"""A webhook, its deliveries and their attempts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class Webhook(Value):
    """A webhook: an endpoint that events are delivered to."""

    id: UUID
    url: str
    description: str | None
    event_types: Sequence[str]
    """Types it receives; empty for all."""
    is_enabled: bool
    disabled_at: datetime | None
    disabled_reason: str | None
    circuit: str
    """`closed` (deliveries are attempted), `open` (not until `blocked_until`), `half_open` (one
    delivery probes it), `resting` (the endpoint asked for a pause) or `disabled`.
    """
    failures: int
    failing_since: datetime | None
    blocked_until: datetime | None
    previous_secret_until: datetime | None
    """Time until which the previous secret signs too."""
    format: str
    """Format of its requests: `mailqueue`, or the provider whose webhooks they are like."""
    public_key: str | None
    """Public key that verifies requests in format `sendgrid`; null for other formats."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class CreatedWebhook(Value):
    """A webhook and its signing secret, which is shown only once."""

    webhook: Webhook
    secret: str | None
    """Null in format `sendgrid`, whose requests are verified with the webhook's public key."""
    warning: str


@dataclass(frozen=True, slots=True)
class WebhookData(Value):
    """The event that a webhook receives, and the email it is about."""

    version: int
    """Version of the payload, 1. It may gain fields; none is removed or changes its meaning."""
    event_id: UUID
    email_id: UUID | None
    """Null in a test event."""
    project_id: UUID
    project: str
    recipient: str | None
    """Address that the event is about, or the first of several."""
    recipients: int
    """Number of recipients that the event is about."""
    category: str | None
    campaign_id: str | None
    tags: Sequence[str]
    custom_data: Any
    """Custom data of the email; an empty object where it has none."""
    sender: str | None
    """Name of the sender account."""
    message_id: str | None
    provider_message_id: str | None
    reason: str | None
    code: str | None
    source: str | None
    """Source of the report, such as `ses`, `dsn` or `tracking`; null for this installation."""
    url: str | None
    """Target of the link that was followed."""
    user_agent: str | None
    ip: str | None
    """Network of the person who opened or clicked, truncated to /24 or /48."""
    is_machine: bool | None
    """Whether software opened or clicked."""
    is_test: bool
    """Whether it is a test event, or of a test email."""


@dataclass(frozen=True, slots=True)
class WebhookPayload(Value):
    """The body of a request to a webhook."""

    type: str
    """Type of the event, such as `email.delivered`."""
    timestamp: datetime
    """When it happened."""
    data: WebhookData


@dataclass(frozen=True, slots=True)
class WebhookEventType(Value):
    """One type of event."""

    type: str
    description: str


@dataclass(frozen=True, slots=True)
class WebhookEventTypes(Value):
    """All types of events."""

    data: Sequence[WebhookEventType]


@dataclass(frozen=True, slots=True)
class Delivery(Value):
    """One event for one webhook, and the outcome of its delivery."""

    id: UUID
    webhook_id: UUID
    event_id: UUID
    type: str
    status: str
    attempts: int
    max_attempts: int
    next_attempt_at: datetime | None
    """When it is attempted next; null where no attempt follows."""
    response_status: int | None
    error: str | None
    email_id: UUID | None
    is_test: bool
    """Whether the event is of a test email."""
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class DeliveryAttempt(Value):
    """One request to the endpoint and its response."""

    attempt: int
    tried_at: datetime
    response_status: int | None
    error: str | None
    latency_ms: int
    """Milliseconds until the response."""
    request_headers: Mapping[str, str]
    """Headers of the request, without the signatures."""
    response_body: str | None
    """First 4 kB of the body of the response."""


@dataclass(frozen=True, slots=True)
class DeliveryDetail(Value):
    """A delivery, its payload and every attempt."""

    delivery: Delivery
    payload: Mapping[str, Any] | None
    """Null once it is no longer stored."""
    attempts: Sequence[DeliveryAttempt]


@dataclass(frozen=True, slots=True)
class RetriedDeliveries(Value):
    """Number of deliveries that are attempted again, or would be."""

    retried: int


@dataclass(frozen=True, slots=True)
class WebhookTest(Value):
    """The result of a test delivery."""

    success: bool
    delivery_id: UUID | None
    event_id: UUID
    type: str
    response_status: int | None
    """Null if no response was received; `error` has the reason."""
    error: str | None
    latency_ms: int
    response_body: str | None
