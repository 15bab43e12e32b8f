"""Definition of a compatible API: endpoints, authentication, error responses."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, ForTestKeys, Once
from mailqueue.api.http.responses import RawHeaders, retry_after
from mailqueue.core.errors import MailqueueError
from mailqueue.projects.model import Scope
from mailqueue.projects.rate_limit.limiter import BucketState

CompatError = MailqueueError | HTTPException
CompatHandler = Callable[[RequestContext], Awaitable[Response]]


async def no_response(request: Request) -> Response | None:  # noqa: ARG001
    """Return no response: a request without a key is refused."""
    return None


def no_head(request: Request) -> bool:  # noqa: ARG001
    """Return False: requests of this API are recognized by path only."""
    return False


def no_headers(bucket: BucketState) -> RawHeaders:  # noqa: ARG001
    """Return no rate limit headers."""
    return []


def headers_of(exc: CompatError) -> Mapping[str, str]:
    """Return the headers of an error response besides those of every response."""
    if isinstance(exc, HTTPException):
        return exc.headers or {}
    return retry_after(exc)


def sending_endpoint(
    path: str, summary: str, handler: Callable[[RequestContext], Awaitable[Response]]
) -> Endpoint:
    """Return an endpoint that accepts mail; its handler answers repeated requests itself."""
    return Endpoint(
        "POST",
        path,
        Scope.EMAIL_SEND,
        summary,
        handler,
        once=Once.ITSELF,
        test_keys=ForTestKeys.OWN,
    )


def suppression_endpoint(
    method: str, path: str, summary: str, handler: Callable[[RequestContext], Awaitable[Response]]
) -> Endpoint:
    """Return an endpoint that lists or changes suppressions; repeating a request changes nothing
    more.
    """
    return managing_endpoint(Scope.SUPPRESSION_MANAGE, method, path, summary, handler)


def webhook_endpoint(
    method: str, path: str, summary: str, handler: Callable[[RequestContext], Awaitable[Response]]
) -> Endpoint:
    """Return an endpoint that lists or changes webhooks."""
    return managing_endpoint(Scope.WEBHOOK_MANAGE, method, path, summary, handler)


def template_endpoint(
    method: str, path: str, summary: str, handler: Callable[[RequestContext], Awaitable[Response]]
) -> Endpoint:
    """Return an endpoint that lists or changes templates."""
    scope = Scope.TEMPLATE_READ if method == "GET" else Scope.TEMPLATE_WRITE
    return managing_endpoint(scope, method, path, summary, handler)


def domain_endpoint(
    method: str, path: str, summary: str, handler: Callable[[RequestContext], Awaitable[Response]]
) -> Endpoint:
    """Return an endpoint that lists or changes the domains of a project."""
    scope = Scope.PROJECT_READ if method == "GET" else Scope.PROJECT_WRITE
    return managing_endpoint(scope, method, path, summary, handler)


def batch_endpoint(
    method: str, path: str, summary: str, handler: Callable[[RequestContext], Awaitable[Response]]
) -> Endpoint:
    """Return an endpoint that shows or stops the mail of a batch.

    A pause has no mode: test keys see those of live mail too, and end none.
    """
    scope, test_keys = Scope.EMAIL_SEND, ForTestKeys.OWN
    if method == "GET":
        scope, test_keys = Scope.EMAIL_READ, ForTestKeys.READ
    return Endpoint(method, path, scope, summary, handler, once=Once.NEVER, test_keys=test_keys)


def contact_endpoint(
    method: str,
    path: str,
    summary: str,
    handler: Callable[[RequestContext], Awaitable[Response]],
    *,
    is_reading: bool = False,
) -> Endpoint:
    """Return an endpoint of contacts and lists; test keys have their own.

    `is_reading`: a POST that changes nothing.
    """
    reads = method == "GET" or is_reading
    scope = Scope.CONTACTS_READ if reads else Scope.CONTACTS_WRITE
    return Endpoint(
        method, path, scope, summary, handler, once=Once.NEVER, test_keys=ForTestKeys.OWN
    )


def key_endpoint(
    method: str, path: str, summary: str, handler: Callable[[RequestContext], Awaitable[Response]]
) -> Endpoint:
    """Return an endpoint of API keys; test keys have their own."""
    scope = Scope.PROJECT_READ if method == "GET" else Scope.PROJECT_WRITE
    return Endpoint(
        method, path, scope, summary, handler, once=Once.NEVER, test_keys=ForTestKeys.OWN
    )


def managing_endpoint(
    scope: Scope, method: str, path: str, summary: str, handler: CompatHandler
) -> Endpoint:
    """Return an endpoint of what has no mode: test keys may read it."""
    return Endpoint(
        method,
        path,
        scope,
        summary,
        handler,
        once=Once.NEVER,
        test_keys=ForTestKeys.READ if method == "GET" else ForTestKeys.REFUSED,
    )


@dataclass(frozen=True, slots=True)
class CompatApi:
    """A compatible API.

    Its handlers parse the body. `credential_of` returns the API key of a request and raises
    Unauthorized where there is none; `refused` builds the error responses. Requests below one of
    its roots, or recognized by their headers, get this API's errors also for unknown endpoints.
    """

    name: str
    endpoints: tuple[Endpoint, ...]
    credential_of: Callable[[Request], str]
    refused: Callable[[Request, CompatError], Response]
    roots: tuple[str, ...]
    is_known_by_head: Callable[[Request], bool] = no_head
    without_key: Callable[[Request], Awaitable[Response | None]] = no_response
    rates: Callable[[BucketState], RawHeaders] = no_headers
