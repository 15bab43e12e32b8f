"""What another API's shape is: its endpoints, how its callers say who they are, how it refuses."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.http.endpoint import Endpoint
from mailqueue.core.errors import MailqueueError
from mailqueue.tenants.rate_limit.limiter import Standing

Fault = MailqueueError | HTTPException
Headers = list[tuple[bytes, bytes]]


async def nobody(request: Request) -> Response | None:  # noqa: ARG001
    """Answer nobody without a key."""
    return None


def no_head(request: Request) -> bool:  # noqa: ARG001
    """Know a request of this API by its path only."""
    return False


def no_headers(standing: Standing) -> Headers:  # noqa: ARG001
    """Return no rate headers."""
    return []


@dataclass(frozen=True, slots=True)
class Shape:
    """One API, as those who call it know it.

    Its handlers read the body themselves. `credential_of` gives the API key of a request and raises
    Unauthorized where there is none; `refused` words every fault as that API does. What lies below
    a root, or is known by its head, is this API's also where there is no such endpoint.
    """

    name: str
    endpoints: tuple[Endpoint, ...]
    credential_of: Callable[[Request], str]
    refused: Callable[[Request, Fault], Response]
    roots: tuple[str, ...]
    is_known_by_head: Callable[[Request], bool] = no_head
    without_key: Callable[[Request], Awaitable[Response | None]] = nobody  # None: a key is needed
    rates: Callable[[Standing], Headers] = no_headers
