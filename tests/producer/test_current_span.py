"""Programs that trace with OpenTelemetry pass their span on; others notice nothing."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from mailqueue.client.exchange import ApiAccess
from mailqueue.client.request import ApiRequest
from mailqueue.client.retrying import Retries
from mailqueue.core.secret import Secret
from mailqueue.core.trace_context import current_traceparent
from mailqueue.producer.message import message_of

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
HELLO = {"subject": "Hi", "text": "Hello"}


@contextmanager
def traced(trace_id: int = int(TRACE[3:35], 16), flags: int = 1) -> Iterator[None]:
    """Have a span of OpenTelemetry while the block runs."""
    context = SpanContext(
        trace_id, int(TRACE[36:52], 16), is_remote=False, trace_flags=TraceFlags(flags)
    )
    with trace.use_span(NonRecordingSpan(context)):
        yield


def headers() -> dict[str, str]:
    """Return the headers that the client sends."""
    access = ApiAccess("http://127.0.0.1:8025", Secret("mq_live_x"), "default", 1.0, Retries())
    ask: ApiRequest[Any] = ApiRequest("GET", "/v1/emails")
    found: dict[str, str] = access.request(ask)["headers"]
    return found


def test_the_current_span_is_passed_on_by_the_client_and_in_transactions() -> None:
    with traced():
        message = message_of("ann@example.com", HELLO)
        sent = headers()

    assert message.options["custom_data"] == {"traceparent": TRACE}
    assert sent["traceparent"] == TRACE


def test_what_the_program_wrote_stays() -> None:
    with traced():
        message = message_of("ann@example.com", HELLO | {"custom_data": {"traceparent": "own"}})

    assert message.options["custom_data"] == {"traceparent": "own"}


def test_a_span_that_is_not_sampled_says_so() -> None:
    with traced(flags=0):
        assert current_traceparent() == TRACE[:-1] + "0"


def test_without_a_span_nothing_is_passed_on() -> None:
    assert "custom_data" not in message_of("ann@example.com", HELLO).options
    assert "traceparent" not in headers()
    with traced(trace_id=0):
        assert current_traceparent() is None


def test_without_the_package_nothing_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with traced():
        monkeypatch.delitem(sys.modules, "opentelemetry.trace")
        assert current_traceparent() is None
        monkeypatch.setitem(sys.modules, "opentelemetry.trace", SimpleNamespace())
        assert current_traceparent() is None
