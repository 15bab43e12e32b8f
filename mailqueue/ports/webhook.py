"""How an event gets to an endpoint, and what came back. Values and a Protocol."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Posted:
    """What came of one POST.

    `status` None: there was no answer, and `why` says in words what happened. `body` is what was
    read of the answer's, at most some kilobytes; `retry_after` the wait the endpoint asked for.
    """

    status: int | None
    why: str = ""
    body: bytes = b""
    retry_after: timedelta | None = None
    took_ms: int = 0


class Poster(Protocol):
    """Calls endpoints; follows no redirect, and goes to no address that is not public."""

    async def post(self, url: str, headers: Headers, body: bytes) -> Posted:
        """POST one body and read what is answered, within seconds. Raises nothing."""
        ...

    def rest(self) -> None:
        """Close connections that were not used for some time."""
        ...

    def close(self) -> None:
        """Close every connection that is not in use."""
        ...
