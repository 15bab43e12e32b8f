"""Webhooks and their deliveries as callers see them."""

from mailqueue.contract.webhooks import (
    CreatedWebhook,
    Delivery,
    DeliveryAttempt,
    DeliveryDetail,
    Webhook,
    WebhookEventType,
    WebhookEventTypes,
)
from mailqueue.webhooks.model import (
    MEANING_BY_TYPE,
    DeliveryAttemptRow,
    DeliveryLog,
    DeliveryRow,
    DeliveryStatus,
    WebhookRow,
    WithSecret,
)

EVENT_TYPES = WebhookEventTypes(
    [WebhookEventType(one, words) for one, words in MEANING_BY_TYPE.items()]
)
_WARNING = "Save the secret now: it is not shown again."
_PUBLIC_KEY_NOTE = "Requests are verified with the public key; the private key is never shown."


def webhook_of(row: WebhookRow) -> Webhook:
    """Return a webhook."""
    return Webhook(
        id=row.id,
        url=row.url,
        description=row.description,
        event_types=row.event_types,
        is_enabled=row.is_enabled,
        disabled_at=row.disabled_at,
        disabled_reason=row.disabled_reason,
        circuit=row.circuit,
        failures=row.failures,
        failing_since=row.failing_since,
        blocked_until=row.blocked_until,
        previous_secret_until=row.previous_until,
        format=row.format,
        public_key=row.public_key,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def created_webhook_of(new: WithSecret) -> CreatedWebhook:
    """Return a webhook with its secret."""
    if new.webhook.public_key is not None:
        return CreatedWebhook(webhook_of(new.webhook), None, _PUBLIC_KEY_NOTE)
    return CreatedWebhook(webhook_of(new.webhook), new.secret.reveal(), _WARNING)


def delivery_of(row: DeliveryRow) -> Delivery:
    """Return a delivery."""
    return Delivery(
        id=row.id,
        webhook_id=row.webhook_id,
        event_id=row.event_id,
        type=row.type,
        status=row.status,
        attempts=row.attempts,
        max_attempts=row.max_attempts,
        next_attempt_at=row.run_at if row.status == DeliveryStatus.PENDING else None,
        response_status=row.last_code,
        error=row.last_error,
        email_id=row.email_id,
        is_test=row.is_test,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )


def delivery_detail_of(log: DeliveryLog) -> DeliveryDetail:
    """Return a delivery with its payload and attempts."""
    payload = None if log.payload is None else dict(log.payload)
    return DeliveryDetail(
        delivery_of(log.delivery), payload, [_attempt_of(row) for row in log.attempts]
    )


def _attempt_of(row: DeliveryAttemptRow) -> DeliveryAttempt:
    return DeliveryAttempt(
        attempt=row.attempt,
        tried_at=row.tried_at,
        response_status=row.status_code,
        error=row.error,
        latency_ms=row.took_ms,
        request_headers=row.request_headers,
        response_body=row.response,
    )
