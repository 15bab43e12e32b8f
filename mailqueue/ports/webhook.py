"""The interface for delivering events to webhook endpoints. Values and a Protocol."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

WebhookHeaders = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Posted:
    """The result of one POST.

    `status` is None if no response was received, and `why` has the reason. `body` is the start of
    the response body, at most some kilobytes; `retry_after` is the wait that the endpoint asked
    for. `was_sent` False: the endpoint has received nothing.
    """

    status: int | None
    why: str = ""
    body: bytes = b""
    retry_after: timedelta | None = None
    took_ms: int = 0
    was_sent: bool = True


class Poster(Protocol):
    """Sends requests to endpoints at allowed addresses; follows no redirects."""

    async def post(self, url: str, headers: WebhookHeaders, body: bytes) -> Posted:
        """POST one body and return the response or the reason of a failure, within seconds.

        Never raises.
        """
        ...

    def rest(self) -> None:
        """Close connections that were idle for too long."""
        ...

    def close(self) -> None:
        """Close every connection that is not in use."""
        ...
