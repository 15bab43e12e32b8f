"""What an answer of an endpoint means. Pure."""

from mailqueue.ports.webhook import Posted
from mailqueue.webhooks.model import DeliveryOutcome

MAX_RESPONSE_BYTES = 4096
"""So much of an answer's body is kept."""
_GONE = 410
_PAUSES = frozenset({429, 503})
"""Answers whose Retry-After is meant for all calls."""


def ending_of(posted: Posted) -> DeliveryOutcome:
    """Return what became of the delivery: any 2xx is good, 410 wants nothing more, all
    else failed.
    """
    if posted.status is None:
        return DeliveryOutcome.FAILED
    if 200 <= posted.status < 300:
        return DeliveryOutcome.DELIVERED
    return DeliveryOutcome.GONE if posted.status == _GONE else DeliveryOutcome.FAILED


def fault_of(posted: Posted) -> str | None:
    """Return what went wrong; None where nothing did."""
    if posted.status is None:
        return posted.why
    if 200 <= posted.status < 300:
        return None
    if 300 <= posted.status < 400:
        return f"answered {posted.status}, and redirects are not followed"
    return f"answered {posted.status}"


def asks_for_rest(posted: Posted) -> bool:
    """Return whether the endpoint asked for a pause of all calls."""
    return posted.status in _PAUSES and posted.retry_after is not None


def kept_of(posted: Posted) -> str | None:
    """Return what is kept of the answer's body, as text that PostgreSQL can store."""
    if posted.status is None:
        return None
    text = posted.body[:MAX_RESPONSE_BYTES].decode("utf-8", "replace")
    return text.replace("\0", "\ufffd").encode()[:MAX_RESPONSE_BYTES].decode("utf-8", "ignore")
