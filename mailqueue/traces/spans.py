"""Makes spans of what the database recorded about emails. Pure.

accept        PRODUCER   the email was accepted; its parent is the span of the caller
├ wait        INTERNAL   until a worker claimed it: due, limits
├ claim       INTERNAL   until the worker began to compose: contents, room, a connection
├ compose     INTERNAL   the message was composed and signed
├ hand over   CLIENT     the attempt, until the server or provider answered
├ settle      INTERNAL   until the outcome was written
└ event       CONSUMER   what happened afterwards, such as delivered or failed

Of an attempt whose worker recorded no stages, `wait` lasts until `hand over`, and that until the
outcome was written.

Names and attributes follow OpenTelemetry's semantic conventions for messaging. The id of a span is
a hash of its email and step: exported again, it is the same.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from mailqueue.core.trace_context import parse_traceparent, span_id
from mailqueue.traces.model import SentStages, SpanKind, TraceSpan, TraceStep

SYSTEM = "mailqueue"
DESTINATION = "email_queue"
MAX_TEXT = 100
"""Characters of a value that a server or provider chose."""
_OPERATIONS = {"wait": "receive", "claim": "receive", "compose": "process", "settle": "settle"}
"""Types of operations by the semantic conventions for messaging."""
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
    times = _times(step, waited_from)
    attempt = {"mailqueue.attempt": step.attempt or 0}
    is_good = step.status in _GOOD
    handed = _common(step, "hand over", "send") | attempt | _account(step)
    handed["mailqueue.outcome"] = step.status or ""
    if code := step.enhanced or step.code:
        handed["mailqueue.reply_code"] = code[:MAX_TEXT]
    if not is_good:
        handed["error.type"] = (step.enhanced or step.code or step.status or "_OTHER")[:MAX_TEXT]
    found = []
    for name, (began_at, ended_at) in times.items():
        is_handed = name == "hand over"
        found.append(
            TraceSpan(
                trace,
                span_id(step.email_id, f"{name} {step.key}"),
                parent,
                f"{name} {(is_handed and step.provider) or DESTINATION}"[:MAX_TEXT],
                SpanKind.CLIENT if is_handed else SpanKind.INTERNAL,
                began_at,
                ended_at,
                handed if is_handed else _common(step, name, _OPERATIONS[name]) | attempt,
                is_error=is_handed and not is_good,
            )
        )
    return found


def _times(step: TraceStep, waited_from: datetime) -> dict[str, tuple[datetime, datetime]]:
    """Return the stages of an attempt in order; none ends before it begins, or after the attempt.

    The clocks of the worker's host and of the database may differ.
    """

    def within(at: datetime, since: datetime) -> datetime:
        return min(max(at, since), step.at)

    if step.stages is None:
        handed_at = within(_before(step.at, step.response_ms), waited_from)
        return {"wait": (waited_from, handed_at), "hand over": (handed_at, step.at)}
    noted_at, stages = step.stages.noted_at, step.stages
    claimed_at = within(_before(noted_at, stages.claimed_ms), waited_from)
    begun_at = within(_before(noted_at, stages.begun_ms), claimed_at)
    composed_at = within(_before(noted_at, stages.composed_ms), begun_at)
    answered_at = within(_before(noted_at, stages.answered_ms), composed_at)
    handed_at = within(_before(answered_at, step.response_ms), composed_at)
    return {
        "wait": (waited_from, claimed_at),
        "claim": (claimed_at, begun_at),
        "compose": (begun_at, composed_at),
        "hand over": (handed_at, answered_at),
        "settle": (answered_at, step.at),
    }


def with_stages(steps: Iterable[TraceStep], stages: Iterable[SentStages]) -> list[TraceStep]:
    """Return steps, the attempts among them with what their workers did.

    Noted twice, as when the outcome could not be written at first, the later one counts.
    """
    by_email = defaultdict[UUID, list[SentStages]](list)
    for one in stages:
        by_email[one.email_id].append(one)
    found = []
    for step in steps:
        since = step.waited_from or step.accepted_at
        own = [
            one
            for one in by_email.get(step.email_id, ())
            if step.event_id is None and since is not None and since <= one.noted_at <= step.at
        ]
        found.append(step._replace(stages=max(own, key=lambda one: one.noted_at, default=None)))
    return found


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
