"""The context of a trace, as W3C Trace Context writes it: `traceparent`. Pure, but for the span in
which the caller is.

An email keeps the context with which it was handed in as `traceparent` of its custom data.
"""

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

TRACEPARENT = "traceparent"
"""Name of the header, and of the member of custom data."""
MAX_CHARACTERS = 200
"""Longest `traceparent` that is read; one of version 00 has 55 characters."""
MAX_DATA_BYTES = 30_000
"""Bytes of custom data and variables to which no context is added: they must not become too large
by it for the limit of 64 KiB, which counts them as PostgreSQL writes them."""
_FORM = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})"
    r"(?P<rest>-[!-~]*)?"
)
_SAMPLED = 1


class TraceContext(NamedTuple):
    """A span of a caller, in lower-case hexadecimal digits, and whether its trace is recorded."""

    trace_id: str  # 32 digits
    span_id: str  # 16 digits
    is_sampled: bool


def parse_traceparent(text: object) -> TraceContext | None:
    """Return the context that a `traceparent` names; None if it is none.

    Version ff, ids of zeros and, in version 00, anything behind the flags are invalid. Of a later
    version the parts of version 00 are read (W3C Trace Context, 3.2 and 4.3).
    """
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        return None
    found = _FORM.fullmatch(text)
    if found is None or found["version"] == "ff":
        return None
    if found["version"] == "00" and found["rest"] is not None:
        return None
    if not found["trace"].strip("0") or not found["span"].strip("0"):
        return None
    return TraceContext(found["trace"], found["span"], bool(int(found["flags"], 16) & _SAMPLED))


def span_id(email_id: UUID, step: str) -> str:
    """Return the id of the span of a step of an email: 16 hexadecimal digits, not all zero."""
    found = hashlib.sha256(f"{email_id} {step}".encode()).hexdigest()[:16]
    return found if found.strip("0") else "0" * 15 + "1"


def call_span_id(email_id: UUID, delivery_id: UUID, tried_at: datetime) -> str:
    """Return the id of the span of a call of a webhook about an email."""
    return span_id(email_id, f"call {delivery_id} {tried_at.timestamp()}")


def context_of(custom_data: object) -> TraceContext | None:
    """Return the context in the custom data of an email; None if there is none."""
    if not isinstance(custom_data, Mapping):
        return None
    return parse_traceparent(custom_data.get(TRACEPARENT))


def is_sampled(email_id: UUID, custom_data: object, ratio: float) -> bool:
    """Return whether the spans of an email are exported, as SQL's is_traced() decides.

    `ratio` is the share of emails without a context.
    """
    if custom_data is not None and (context := context_of(custom_data)) is not None:
        return context.is_sampled
    return (email_id.int & 0xFFFFFFFF) < ratio * 2**32


def only_one(values: list[str]) -> str | None:
    """Return the `traceparent` of a request or message with these header fields.

    None if there is none, more than one, or it has another form: it is ignored then.
    """
    if len(values) != 1:
        return None
    text = values[0].strip(" \t")
    return text if parse_traceparent(text) is not None else None


def current_traceparent() -> str | None:
    """Return the context of the span of OpenTelemetry that is current; None if there is none.

    The package is not imported: where a span is current, the caller has imported it.
    """
    tracing = sys.modules.get("opentelemetry.trace")
    if tracing is None:
        return None
    try:
        span = tracing.get_current_span().get_span_context()
        text = f"00-{span.trace_id:032x}-{span.span_id:016x}-{int(span.trace_flags) & 0xFF:02x}"
    except (AttributeError, TypeError, ValueError):  # another version of the package
        return None
    return text if parse_traceparent(text) is not None else None


def with_traceparent(options: Mapping[str, Any], traceparent: str | None) -> Mapping[str, Any]:
    """Return the options of an email with a context in its custom data.

    What the caller wrote there stays, as does custom data that is no object or is very large. An
    empty object stays too: to the fingerprint of an email it is another than none.
    """
    data, variables = options.get("custom_data"), options.get("variables")
    if traceparent is None or data == {}:
        return options
    if data is None and not variables:
        return {**options, "custom_data": {TRACEPARENT: traceparent}}
    data = {} if data is None else data
    if not isinstance(data, dict) or TRACEPARENT in data or _is_large([data, variables]):
        return options
    return {**options, "custom_data": {**data, TRACEPARENT: traceparent}}


def _is_large(given: list[Any]) -> bool:
    try:
        return len(json.dumps(given)) > MAX_DATA_BYTES
    except (TypeError, ValueError, RecursionError):  # what cannot be stored is refused elsewhere
        return True
