"""Decides who asks, and whether they may: key or token, scope, and the project in the path."""

from collections.abc import Mapping

from starlette.requests import Request

from mailqueue.api.endpoint import Endpoint
from mailqueue.api.reading import head_of
from mailqueue.api.runtime import Runtime
from mailqueue.core.errors import Forbidden, NotFound, Unauthorized
from mailqueue.tenants.allowance import Allowance, Standing
from mailqueue.tenants.keys import not_in_force
from mailqueue.tenants.model import Admin, Caller, Scope

KEY = "this key"
PROJECT = "the keys of a project together"


def credential_of(request: Request) -> str:
    """Give the key or token of X-API-Key or Authorization: Bearer.

    Raises:
        Unauthorized: there is none.
    """
    head = head_of(request)
    given = head.get(b"x-api-key", b"").decode("latin-1")
    if not given:
        scheme, _, token = head.get(b"authorization", b"").decode("latin-1").partition(" ")
        given = token.strip() if scheme.lower() == "bearer" else ""
    if not given:
        raise Unauthorized("an API key is needed: X-API-Key or Authorization: Bearer")
    return given


async def admitted(
    endpoint: Endpoint, runtime: Runtime, request: Request, *, path: Mapping[str, str]
) -> Caller | Admin:
    """Say who asks.

    Raises:
        Unauthorized: key or token is missing or not in force.
        Forbidden: the key lacks the endpoint's scope.
        NotFound: the path names another project than the key's.
    """
    given = credential_of(request)
    if endpoint.superadmin:
        return await runtime.services.admin_of(given)
    caller = await caller_of(runtime, request, given, scope=endpoint.scope)
    project = path.get("pid")
    if project is not None and project not in (str(caller.project_id), caller.project):
        raise NotFound("project", project[:100])
    return caller


async def caller_of(runtime: Runtime, request: Request, key: str, *, scope: Scope | None) -> Caller:
    """Say for whom a key speaks.

    Raises:
        Unauthorized: it is not in force.
        Forbidden: it lacks the scope.
    """
    client = request.scope.get("client")
    caller = await runtime.callers.find(key, address=client[0] if client else None)
    if caller is None:
        raise not_in_force()
    if scope is not None and scope not in caller.scopes:
        raise Forbidden(f"scope {scope}")
    return caller


async def let_in(caller: Caller, allowance: Allowance) -> Standing | None:
    """Count a request of a key and its project; give how the key stands, None without a bound.

    Raises:
        RanOut: says which of both, and when to come again.
    """
    standing = None
    if (rate := caller.project_requests_per_second) is not None:
        await allowance.take(caller.project_id, rate, what=PROJECT)
    if (rate := caller.requests_per_second) is not None:
        standing = await allowance.take(caller.id, rate, what=KEY)
    return standing
