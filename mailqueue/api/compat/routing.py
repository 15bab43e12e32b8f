"""Route the requests of compatible APIs: authenticate, limit the rate, call the handler.

A trailing slash of a path is ignored, because clients differ.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from mailqueue.api.compat.model import CompatApi, no_head
from mailqueue.api.http.auth import caller_of, check_rate_limit, reads_only
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint
from mailqueue.api.http.requests.large_bodies import admit, release
from mailqueue.api.http.responses import RawHeaders, answer_fault, note_away
from mailqueue.api.http.router import Methods, variables
from mailqueue.api.http.runtime import Runtime
from mailqueue.core.errors import MailqueueError
from mailqueue.projects.rate_limit.limiter import RateLimitExceeded

_SHAPE = "mailqueue.shape"
_METHODS = "mailqueue.shape.methods"
_VARIABLE = re.compile(r"\\\{[a-z_]+\\\}")


@dataclass(frozen=True, slots=True)
class _Path:
    shape: CompatApi
    pattern: re.Pattern[str]
    methods: Methods


_Named = tuple[CompatApi, Methods]


class CompatRouting(BaseRoute):
    """All endpoints of all compatible APIs as one starlette route."""

    def __init__(self, shapes: Sequence[CompatApi], runtime: Runtime) -> None:
        self._runtime = runtime
        self._shapes = shapes
        self._named: dict[str, list[_Named]] = {}
        self._patterns: list[_Path] = []
        for shape in shapes:
            for path in dict.fromkeys(each.path for each in shape.endpoints):
                self._add(shape, path)

    def _add(self, shape: CompatApi, path: str) -> None:
        methods = {each.method: each for each in shape.endpoints if each.path == path}
        if "{" not in path:
            others = self._named.setdefault(path, [])
            for other, _ in others:
                if other.is_known_by_head is shape.is_known_by_head:  # nothing tells them apart
                    raise ValueError(f"{path} belongs to {other.name} already")
            others.append((shape, methods))
            return
        pattern = re.compile(_VARIABLE.sub(r"[^/\\0]+", re.escape(path)))
        self._patterns.append(_Path(shape, pattern, methods))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return starlette's match for a path of a compatible API; the endpoint is checked
        later.
        """
        if scope["type"] != "http":
            return Match.NONE, {}
        shape, methods = self._api_and_methods(scope)
        if shape is None:
            return Match.NONE, {}
        return Match.FULL, {_SHAPE: shape, _METHODS: methods}

    def _api_and_methods(self, scope: Scope) -> tuple[CompatApi | None, Methods]:
        path = trimmed(scope["path"])
        request = Request(scope)
        found = list(self._named.get(path, ()))
        found += (
            (each.shape, each.methods) for each in self._patterns if each.pattern.fullmatch(path)
        )
        found += ((shape, {}) for shape in self._shapes if is_below(path, shape.roots))
        found += ((shape, {}) for shape in self._shapes if shape.is_known_by_head(request))
        # Several APIs have paths such as /webhooks: the credential tells whose client asks. A path
        # that an API has goes before what it only answers with an error.
        for is_there in (True, False):
            some = [one for one in found if bool(one[1]) is is_there]
            for shape, methods in some:
                if shape.is_known_by_head(request):
                    return shape, methods
            for shape, methods in some:
                if shape.is_known_by_head is no_head:
                    return shape, methods
        return found[0] if found else (None, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request and send the response."""
        shape: CompatApi = scope[_SHAPE]
        try:
            response = await self._answered(shape, Request(scope, receive, send))
            await response(scope, receive, send)
        finally:
            release(scope)
            self._runtime.in_flight.end(scope)

    async def _answered(self, shape: CompatApi, request: Request) -> Response:
        headers: RawHeaders = []
        try:
            response = await self._handled(shape, request, headers)
        except (MailqueueError, HTTPException) as exc:
            note_away(request.scope, exc)
            response = shape.refused(request, exc)
            if isinstance(exc, RateLimitExceeded):
                headers = shape.rates(exc.bucket)
        response.raw_headers += headers
        return response

    async def _handled(self, shape: CompatApi, request: Request, headers: RawHeaders) -> Response:
        endpoint = endpoint_of(request.scope)
        aside = await shape.without_key(request)
        if aside is not None:
            return aside
        given = shape.credential_of(request)
        caller = await caller_of(self._runtime, request, given, endpoint)
        self._runtime.in_flight.begin(request.scope, caller.project_id)
        bucket = await check_rate_limit(caller, self._runtime.allowance)
        if bucket is not None:
            headers += shape.rates(bucket)
        admit(request.scope, self._runtime.bodies, caller)
        path = variables(endpoint, trimmed(request.scope["path"]))
        call = RequestContext(
            self._runtime, request, path, who=caller, is_read_only=reads_only(endpoint, caller)
        )
        answer = await endpoint.handler(call)
        assert isinstance(answer, Response), "a handler of a compatible API returns a Response"
        return answer


def endpoint_of(scope: Scope) -> Endpoint:
    """Return the endpoint of a request.

    Raises:
        HTTPException: 404 for an unknown path, 405 for an unknown method.
    """
    methods: Methods = scope[_METHODS]
    if not methods:
        named = f"{scope['method'][:20]} {trimmed(scope['path'])[:200]}"
        raise HTTPException(HTTPStatus.NOT_FOUND, f"{named} is not supported here")
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    if method not in methods:
        allowed = ", ".join(sorted(methods))
        why = f"{scope['method'][:20]} is not allowed here, use {allowed}"
        raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, why, {"Allow": allowed})
    return methods[method]


def trimmed(path: str) -> str:
    """Return a path without a trailing slash. Pure."""
    return path.rstrip("/") or "/"


def is_below(path: str, roots: Iterable[str]) -> bool:
    """Return whether a path is one of these, or lies below one. Pure."""
    return any(path == root or path.startswith(f"{root}/") for root in roots)


async def answer_any_fault(request: Request, exc: Exception) -> Response:
    """Return the response to an unexpected error, in the format of the requested API."""
    shape: CompatApi | None = request.scope.get(_SHAPE)
    if shape is None:
        return await answer_fault(request, exc)
    why = "internal error; report it with the request id"
    return shape.refused(request, HTTPException(HTTPStatus.INTERNAL_SERVER_ERROR, why))
