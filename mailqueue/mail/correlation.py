"""The ids in the custom data of emails by which a log is searched."""

import re

from mailqueue.core.trace_context import context_of
from mailqueue.telemetry.log import mask

_IDS = ("conversation_id", "correlation_id", "traceparent")
_ID = re.compile(r"[!-~]{1,200}")


def correlation_of(custom_data: object) -> dict[str, str]:
    """Return the ids in the custom data of an email that can be logged, masked where they have @.

    Other values than printable ASCII of at most 200 characters are left out. A trace context is
    also there as `trace_id` and `span_id`, by which logs are linked to traces.
    """
    if not isinstance(custom_data, dict):
        return {}
    found = {
        key: mask(value) if "@" in value else value
        for key in _IDS
        if isinstance(value := custom_data.get(key), str) and _ID.fullmatch(value)
    }
    if (context := context_of(custom_data)) is not None:
        found |= {"trace_id": context.trace_id, "span_id": context.span_id}
    return found
