"""The outcome of a response of an endpoint. Pure."""

from mailqueue.ports.webhook import Posted
from mailqueue.webhooks.model import CallOutcome

MAX_RESPONSE_BYTES = 4096
"""Bytes of a response body that the log keeps."""
_GONE = 410
_PAUSES = frozenset({429, 503})
"""Status codes whose Retry-After holds for all calls of the endpoint."""


def outcome_of(posted: Posted) -> CallOutcome:
    """Return the outcome of a response: 2xx delivered, 410 gone, all else failed."""
    if posted.status is None:
        return CallOutcome.FAILED
    if 200 <= posted.status < 300:
        return CallOutcome.DELIVERED
    return CallOutcome.GONE if posted.status == _GONE else CallOutcome.FAILED


def fault_of(posted: Posted) -> str | None:
    """Return the error of a response; None for 2xx."""
    if posted.status is None:
        return posted.why
    if 200 <= posted.status < 300:
        return None
    if 300 <= posted.status < 400:
        return f"answered {posted.status}, and redirects are not followed"
    return f"answered {posted.status}"


def asks_for_rest(posted: Posted) -> bool:
    """Return whether the endpoint asked for a pause of all its calls."""
    return posted.status in _PAUSES and posted.retry_after is not None


def kept_of(posted: Posted) -> str | None:
    """Return the part of the response body that the log keeps, as text PostgreSQL can store."""
    if posted.status is None:
        return None
    text = posted.body[:MAX_RESPONSE_BYTES].decode("utf-8", "replace")
    return text.replace("\0", "\ufffd").encode()[:MAX_RESPONSE_BYTES].decode("utf-8", "ignore")
