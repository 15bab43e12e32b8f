"""Makes spans of the calls of webhooks. Pure.

A call is a CLIENT span under the event that it told, or under the email's first where the event
itself has no span: that an email was sent is told by `hand over`.
"""

from datetime import timedelta
from urllib.parse import urlsplit

from mailqueue.core.trace_context import call_span_id, parse_traceparent, span_id
from mailqueue.traces.model import SpanKind, TraceCall, TraceSpan
from mailqueue.traces.spans import MAX_TEXT, SYSTEM


def call_spans(call: TraceCall) -> list[TraceSpan]:
    """Return the span of a call; none of an email that is not sampled, or no longer stored."""
    if call.accepted_at is None or call.email_id is None:
        return []
    context = parse_traceparent(call.traceparent)
    kind = (call.type or "")[:MAX_TEXT]
    parent = f"event {call.event_id}" if call.is_told else "accept"
    facts: dict[str, str | int | bool] = {
        "http.request.method": "POST",
        "messaging.system": SYSTEM,
        "messaging.message.id": str(call.email_id),
        "mailqueue.project_id": str(call.project_id),
        "mailqueue.is_test": bool(call.is_test),
        "mailqueue.webhook_id": str(call.webhook_id),
        "mailqueue.delivery_id": str(call.delivery_id),
        "mailqueue.event": kind,
        "mailqueue.attempt": call.attempt,
    }
    if host := _host_of(call.url):
        facts["server.address"] = host
    if call.attempt > 1:
        facts["http.request.resend_count"] = call.attempt - 1
    if call.status_code is not None:
        facts["http.response.status_code"] = call.status_code
    if call.is_error:
        facts["error.type"] = "_OTHER" if call.status_code is None else str(call.status_code)
    return [
        TraceSpan(
            call.email_id.hex if context is None else context.trace_id,
            call_span_id(call.email_id, call.delivery_id, call.tried_at),
            span_id(call.email_id, parent),
            f"webhook {kind}",
            SpanKind.CLIENT,
            call.tried_at,
            call.tried_at + timedelta(milliseconds=max(0, call.took_ms)),
            facts,
            is_error=call.is_error,
        )
    ]


def _host_of(url: str | None) -> str:
    """Return the host of a URL, whose path and query may be secret."""
    try:
        return (urlsplit(url or "").hostname or "")[:MAX_TEXT]
    except ValueError:
        return ""
