"""Writes spans as OTLP has them in JSON (opentelemetry-proto, `ExportTraceServiceRequest`). Pure.

Ids are hexadecimal, and 64-bit integers are texts, as the specification of OTLP/HTTP says.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from mailqueue import __version__
from mailqueue.core.json.writing import write_json
from mailqueue.core.storable_text import storable
from mailqueue.traces.model import TraceSpan

CONTENT_TYPE = "application/json"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STATUS_ERROR = 2


def encode(spans: Sequence[TraceSpan]) -> bytes:
    """Return the body of a request that exports spans."""
    resource = _attributes({"service.name": "mailqueue", "service.version": __version__})
    scope = {"name": "mailqueue", "version": __version__}
    written = [_span(one) for one in spans]
    return write_json(
        {
            "resourceSpans": [
                {
                    "resource": {"attributes": resource},
                    "scopeSpans": [{"scope": scope, "spans": written}],
                }
            ]
        }
    )


def rejected_of(body: Any) -> tuple[int, str]:
    """Return how many spans a collector rejected of those it took, and why.

    What is no count is 0, and what is no text is empty.
    """
    match body:
        case {"partialSuccess": {"rejectedSpans": int() | str() as count, **rest}}:
            text = str(count)
            known = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
            why = rest.get("errorMessage")
            return known, storable(why[:200]) or "" if isinstance(why, str) else ""
        case _:
            return 0, ""


def _span(span: TraceSpan) -> dict[str, Any]:
    found: dict[str, Any] = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "name": span.name,
        "kind": int(span.kind),
        "startTimeUnixNano": _nanoseconds(span.began_at),
        "endTimeUnixNano": _nanoseconds(max(span.began_at, span.ended_at)),
        "attributes": _attributes(span.attributes),
    }
    if span.parent_id:
        found["parentSpanId"] = span.parent_id
    if span.is_error:
        found["status"] = {"code": _STATUS_ERROR}
    return found


def _attributes(given: Any) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in given.items()]


def _value(value: str | int | bool) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case _:
            return {"stringValue": value}


def _nanoseconds(at: datetime) -> str:
    return str(max(0, (at - _EPOCH) // timedelta(microseconds=1)) * 1000)
