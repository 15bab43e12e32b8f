"""One call of an endpoint: signed, sent, and its response turned into an outcome."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from uuid import UUID

from mailqueue.ports.webhook import Posted, Poster
from mailqueue.webhooks.formats.model import JSON_TYPE, UnsignedRequest, WebhookFormat
from mailqueue.webhooks.model import CallResult
from mailqueue.webhooks.outcomes import asks_for_rest, fault_of, kept_of, outcome_of
from mailqueue.webhooks.signing import logged


async def call_endpoint(
    poster: Poster,
    url: str,
    *,
    event_id: UUID,
    body: bytes,
    keys: Sequence[bytes],
    form: WebhookFormat,
    content_type: str = JSON_TYPE,
    idempotency_key: str | None = None,
    traceparent: Callable[[datetime], str] | None = None,
) -> CallResult:
    """Send a POST to an endpoint, signed as its format says; return what came of it.

    `traceparent` returns the trace context of the call from the time at which it is made.
    """
    now = datetime.now(UTC)
    headers, body = form.sign(
        UnsignedRequest(str(event_id), body, int(now.timestamp()), keys, content_type)
    )
    if idempotency_key is not None:
        headers = (*headers, ("Idempotency-Key", idempotency_key))
    if traceparent is not None:
        headers = (*headers, ("traceparent", traceparent(now)))
    posted: Posted = await poster.post(url, headers, body)
    return CallResult(
        outcome_of(posted),
        now,
        posted.took_ms,
        logged(headers),
        code=posted.status,
        error=fault_of(posted),
        wait=posted.retry_after,
        rests=asks_for_rest(posted),
        response=kept_of(posted),
    )
