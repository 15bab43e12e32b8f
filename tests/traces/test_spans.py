"""Spans are bounded, have ids that a repetition has again, and times that follow each other."""

import tracemalloc
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from mailqueue.core.trace_context import span_id
from mailqueue.traces.calls import call_spans
from mailqueue.traces.exporting import PAGE_STEPS
from mailqueue.traces.model import TraceCall, TraceStep
from mailqueue.traces.otlp import encode, rejected_of
from mailqueue.traces.spans import spans_of

AT = datetime(2026, 11, 29, 12, tzinfo=UTC)
EMAIL = UUID("019a9c2e-7d1c-7f6e-9d53-2f4f2f9c8a11")
MAX_BYTES = 4 * 1024 * 1024
"""Bound of a request."""
MAX_MEMORY = 16 * 1024 * 1024
"""Bound of all that an exporter holds of a page, which is all that it holds."""
LONGEST = 2000
"""Characters of the longest text in a page, the URL of a webhook; those of attempts are shorter."""


def step(**changes: Any) -> TraceStep:
    values: dict[str, Any] = {
        "at": AT,
        "key": "a00000000000000000007",
        "email_id": EMAIL,
        "account_id": 3,
        "attempt": 1,
        "status": "sent",
        "code": "250",
        "enhanced": None,
        "response_ms": 40,
        "event_id": None,
        "type": None,
        "source": None,
        "occurred_at": None,
        "project_id": UUID(int=7),
        "is_test": False,
        "accepted_at": AT - timedelta(hours=3),
        "traceparent": None,
        "provider": "smtp",
        "waited_from": AT - timedelta(hours=1),
        "is_first": True,
    }
    return TraceStep(**{**values, **changes})


def call(**changes: Any) -> TraceCall:
    values: dict[str, Any] = {
        "delivery_id": UUID(int=8),
        "tried_at": AT,
        "attempt": 1,
        "status_code": 200,
        "is_error": False,
        "took_ms": -1,
        "webhook_id": UUID(int=5),
        "url": "https://user:secret@hooks.example.com:8443/secret?secret#secret",
        "event_id": UUID(int=9),
        "type": "email.delivered",
        "is_told": True,
        "email_id": EMAIL,
        "project_id": UUID(int=7),
        "is_test": False,
        "accepted_at": AT - timedelta(hours=3),
        "traceparent": None,
        "is_old": False,
    }
    return TraceCall(**{**values, **changes})


def test_the_same_step_has_the_same_spans_and_another_attempt_others() -> None:
    first, again = spans_of(step()), spans_of(step())
    other = spans_of(step(key="a00000000000000000008", is_first=False))

    assert first == again
    assert not {one.span_id for one in first} & {one.span_id for one in other}


def test_an_email_without_a_context_has_a_trace_with_its_id() -> None:
    accept, *others = spans_of(step())

    assert accept.trace_id == EMAIL.hex
    assert accept.parent_id == ""
    assert {one.parent_id for one in others} == {accept.span_id}


@pytest.mark.parametrize("response_ms", [None, -5, 0, 40, 2_000_000_000])
def test_no_span_ends_before_it_begins(response_ms: int | None) -> None:
    early = AT + timedelta(seconds=5)  # a clock that was set back
    for waited_from in (None, AT - timedelta(hours=1), early):
        for one in spans_of(step(response_ms=response_ms, waited_from=waited_from)):
            assert one.began_at <= one.ended_at


def test_an_email_that_is_no_longer_stored_has_no_spans() -> None:
    assert spans_of(step(accepted_at=None)) == []


def test_what_an_exporter_holds_while_a_collector_is_down_is_at_most_16_mb() -> None:
    tracemalloc.start()
    try:
        texts = ("\u20ac" * LONGEST + str(number) for number in count())
        page = [
            step(code=next(texts), enhanced=next(texts), provider=next(texts), status="failed")
            for _ in range(PAGE_STEPS)
        ]
        calls = [
            call(type=next(texts), url=f"https://{next(texts)}/") for _ in range(PAGE_STEPS // 2)
        ]
        spans = [*map(spans_of, page), *map(call_spans, calls)]
        body = encode([span for one in spans for span in one])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(body) < MAX_BYTES
    assert peak < MAX_MEMORY


def test_a_page_of_the_largest_values_is_bounded() -> None:
    much = "\u20ac" * 100_000
    steps = [
        step(code=much, enhanced=much, provider=much, status="failed", traceparent=much)
        for _ in range(PAGE_STEPS)
    ]

    calls = [call_spans(call(type=much, url=f"https://{much}/"))] * (PAGE_STEPS // 2)

    body = encode([span for one in [*map(spans_of, steps), *calls] for span in one])

    assert len(body) < MAX_BYTES


@pytest.mark.parametrize(
    ("changes", "host", "parent", "fault"),
    [
        ({}, "hooks.example.com", f"event {UUID(int=9)}", None),
        ({"url": "https://[", "is_told": False}, None, "accept", None),
        ({"url": None, "status_code": 503, "is_error": True}, None, f"event {UUID(int=9)}", "503"),
        ({"status_code": None, "is_error": True}, "hooks.example.com", None, "_OTHER"),
    ],
)
def test_a_call_is_a_span_under_what_it_told(
    changes: dict[str, Any], host: str | None, parent: str | None, fault: str | None
) -> None:
    [span] = call_spans(call(**changes))

    assert span == call_spans(call(**changes))[0]
    assert span.span_id != call_spans(call(tried_at=AT + timedelta(milliseconds=1)))[0].span_id
    assert span.began_at <= span.ended_at
    assert parent is None or span.parent_id == span_id(EMAIL, parent)
    assert span.attributes.get("server.address") == host
    assert (span.attributes.get("error.type"), span.is_error) == (fault, fault is not None)
    assert "secret" not in str(span)


def test_a_call_about_an_email_that_is_not_exported_has_no_span() -> None:
    assert call_spans(call(accepted_at=None)) == call_spans(call(email_id=None)) == []


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"partialSuccess": {"rejectedSpans": "3", "errorMessage": "full"}}, (3, "full")),
        ({"partialSuccess": {"rejectedSpans": 2}}, (2, "")),
        ({"partialSuccess": {"rejectedSpans": -2}}, (0, "")),
        ({"partialSuccess": {"rejectedSpans": "9" * 50}}, (0, "")),
        ({"partialSuccess": {}}, (0, "")),
        ({}, (0, "")),
        (None, (0, "")),
        ([], (0, "")),
    ],
)
def test_what_a_collector_says_it_rejected_is_counted(body: Any, found: tuple[int, str]) -> None:
    assert rejected_of(body) == found
