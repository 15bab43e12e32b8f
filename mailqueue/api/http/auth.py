"""Authentication and authorization: key or token, scope, and the project in the path."""

import asyncio
from collections.abc import Mapping

from starlette.requests import Request

from mailqueue.api.http.endpoint import Endpoint, ForTestKeys
from mailqueue.api.http.requests.body import headers_by_name
from mailqueue.api.http.runtime import Runtime
from mailqueue.core.errors import Forbidden, NotFound, Unauthorized
from mailqueue.projects.keys.manage import not_in_force
from mailqueue.projects.model import Admin, Caller
from mailqueue.projects.rate_limit.limiter import MAX_WAIT_SECONDS, BucketState, RateLimiter

KEY = "this key"
PROJECT = "all keys of this project together"
NEEDS_LIVE = "a live key"
OWN_ONLY = "a test key can only read and change test data"


def credential_of(request: Request) -> str:
    """Return the key or token of X-API-Key or Authorization: Bearer.

    Raises:
        Unauthorized: there is none.
    """
    given = headers_by_name(request).get(b"x-api-key", b"").decode("latin-1") or bearer_key(request)
    if not given:
        raise Unauthorized("an API key is needed: send it as X-API-Key or Authorization: Bearer")
    return given


def bearer_key(request: Request) -> str:
    """Return the API key of `Authorization: Bearer`, empty where there is none."""
    given = headers_by_name(request).get(b"authorization", b"").decode("latin-1")
    scheme, _, key = given.partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


async def authenticate(
    endpoint: Endpoint, runtime: Runtime, request: Request, *, path: Mapping[str, str]
) -> Caller | Admin:
    """Return the authenticated caller.

    Raises:
        Unauthorized: key or token is missing or not valid.
        Forbidden: the key lacks the endpoint's scope, or is a test key that is not allowed here.
        NotFound: the path names another project than the key's.
    """
    given = credential_of(request)
    if endpoint.superadmin:
        return await runtime.services.admin_of(given)
    caller = await caller_of(runtime, request, given, endpoint)
    project = path.get("pid")
    if project is not None and project not in (str(caller.project_id), caller.project):
        raise NotFound("project", project[:100])
    return caller


async def caller_of(runtime: Runtime, request: Request, key: str, endpoint: Endpoint) -> Caller:
    """Return the caller a key belongs to, after checking that it may use the endpoint.

    Raises:
        Unauthorized: the key is not valid.
        Forbidden: it lacks the scope, or is a test key that is not allowed here.
    """
    client = request.scope.get("client")
    caller = await runtime.callers.find(key, address=client[0] if client else None)
    if caller is None:
        raise not_in_force()
    if endpoint.scope is not None and endpoint.scope not in caller.scopes:
        raise Forbidden(f"scope {endpoint.scope}")
    if caller.is_test and endpoint.test_keys in (None, ForTestKeys.REFUSED):
        raise Forbidden(NEEDS_LIVE, OWN_ONLY)
    return caller


def reads_only(endpoint: Endpoint, who: Caller | Admin) -> bool:
    """Return whether the transactions of a request are read-only. Pure."""
    return isinstance(who, Caller) and who.is_test and endpoint.test_keys is ForTestKeys.READ


async def check_rate_limit(caller: Caller, allowance: RateLimiter) -> BucketState | None:
    """Count a request against the rate limits of its key and project; return the key's, if any.

    A request above a rate waits for its turn. Nothing of its body has been read, and it holds no
    database connection.

    Raises:
        RateLimitExceeded: its turn would not come soon; names the limit, and when to retry.
    """
    bucket = None
    until = asyncio.get_running_loop().time() + MAX_WAIT_SECONDS
    if (rate := caller.project_requests_per_second) is not None:
        await allowance.take_in_turn(caller.project_bucket, rate, what=PROJECT, until=until)
    if (rate := caller.requests_per_second) is not None:
        bucket = await allowance.take_in_turn(caller.id, rate, what=KEY, until=until)
    return bucket
