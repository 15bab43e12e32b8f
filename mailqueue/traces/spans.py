"""Makes spans of what the database recorded about emails. Pure.

accept        PRODUCER   the email was accepted; its parent is the span of the caller
├ wait        INTERNAL   until its attempt was handed over: due, limits, claim, composing
├ hand over   CLIENT     the attempt, until the server or provider answered
└ event       CONSUMER   what happened afterwards, such as delivered or failed

Names and attributes follow OpenTelemetry's semantic conventions for messaging. The id of a span is
a hash of its email and step: exported again, it is the same.
"""

from datetime import datetime, timedelta

from mailqueue.core.trace_context import parse_traceparent, span_id
from mailqueue.traces.model import SpanKind, TraceSpan, TraceStep

SYSTEM = "mailqueue"
DESTINATION = "email_queue"
MAX_TEXT = 100
"""Characters of a value that a server or provider chose."""
_GOOD = frozenset({"sent"})
_BAD_EVENTS = frozenset({"failed", "expired", "soft_bounce", "hard_bounce", "complaint"})


def spans_of(step: TraceStep) -> list[TraceSpan]:
    """Return the spans of a step; none of an email that is no longer stored.

    An email without a context has a trace of its own, whose id is that of the email.
    """
    if step.accepted_at is None:
        return []
    context = parse_traceparent(step.traceparent)
    trace = step.email_id.hex if context is None else context.trace_id
    accepted = span_id(step.email_id, "accept")
    found = []
    if step.is_first:
        found.append(
            TraceSpan(
                trace,
                accepted,
                "" if context is None else context.span_id,
                f"accept {DESTINATION}",
                SpanKind.PRODUCER,
                step.accepted_at,
                step.accepted_at,
                _common(step, "accept", "send"),
            )
        )
    if step.event_id is not None:
        return [*found, _event(step, trace, accepted)]
    return [*found, *_attempt(step, trace, accepted)]


def _attempt(step: TraceStep, trace: str, parent: str) -> list[TraceSpan]:
    assert step.accepted_at is not None, "spans are made of stored emails"
    waited_from = min(step.waited_from or step.accepted_at, step.at)
    begun_at = max(waited_from, _before(step.at, step.response_ms))
    attempt = {"mailqueue.attempt": step.attempt or 0}
    is_good = step.status in _GOOD
    handed = _common(step, "hand over", "send") | attempt | _account(step)
    handed["mailqueue.outcome"] = step.status or ""
    if code := step.enhanced or step.code:
        handed["mailqueue.reply_code"] = code[:MAX_TEXT]
    if not is_good:
        handed["error.type"] = (step.enhanced or step.code or step.status or "_OTHER")[:MAX_TEXT]
    return [
        TraceSpan(
            trace,
            span_id(step.email_id, f"wait {step.key}"),
            parent,
            f"wait {DESTINATION}",
            SpanKind.INTERNAL,
            waited_from,
            begun_at,
            _common(step, "wait", "receive") | attempt,
        ),
        TraceSpan(
            trace,
            span_id(step.email_id, f"hand over {step.key}"),
            parent,
            f"hand over {step.provider or DESTINATION}"[:MAX_TEXT],
            SpanKind.CLIENT,
            begun_at,
            step.at,
            handed,
            is_error=not is_good,
        ),
    ]


def _event(step: TraceStep, trace: str, parent: str) -> TraceSpan:
    at = step.occurred_at or step.at
    kind = step.type or ""
    facts = _common(step, "event", "process") | _account(step)
    facts["mailqueue.event"] = kind
    if step.source:
        facts["mailqueue.source"] = step.source[:MAX_TEXT]
    is_error = kind in _BAD_EVENTS
    if is_error:
        facts["error.type"] = (step.code or kind)[:MAX_TEXT]
    return TraceSpan(
        trace,
        span_id(step.email_id, f"event {step.event_id}"),
        parent,
        f"event {kind}",
        SpanKind.CONSUMER,
        at,
        at,
        facts,
        is_error=is_error,
    )


def _common(step: TraceStep, operation: str, kind: str) -> dict[str, str | int | bool]:
    return {
        "messaging.system": SYSTEM,
        "messaging.operation.name": operation,
        "messaging.operation.type": kind,
        "messaging.destination.name": DESTINATION,
        "messaging.message.id": str(step.email_id),
        "mailqueue.project_id": str(step.project_id),
        "mailqueue.is_test": bool(step.is_test),
    }


def _account(step: TraceStep) -> dict[str, str | int | bool]:
    found: dict[str, str | int | bool] = {}
    if step.account_id is not None:
        found["mailqueue.sender_account_id"] = step.account_id
    if step.provider:
        found["mailqueue.provider"] = step.provider[:MAX_TEXT]
    return found


def _before(at: datetime, milliseconds: int | None) -> datetime:
    return at - timedelta(milliseconds=max(0, milliseconds or 0))
