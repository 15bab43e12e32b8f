"""The router: finds the endpoint, authenticates, validates, calls the handler and responds."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from mailqueue.api.http.auth import PROJECT, authenticate, check_rate_limit, reads_only
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, Once
from mailqueue.api.http.idempotency import REPLAYED, respond_once
from mailqueue.api.http.request_metrics import ROUTE
from mailqueue.api.http.requests.body import body_of, check_type, parse_query, read_as
from mailqueue.api.http.requests.large_bodies import admit, release
from mailqueue.api.http.responses import (
    RawHeaders,
    error_answer,
    http_refusal,
    json_answer,
    refusal,
)
from mailqueue.api.http.runtime import Runtime
from mailqueue.contract.sending import Repeated
from mailqueue.core.errors import MailqueueError
from mailqueue.projects.model import Caller
from mailqueue.projects.rate_limit.limiter import WINDOW_SECONDS, BucketState, RateLimitExceeded

Methods = dict[str, Endpoint]
_FOUND = "mailqueue.endpoints"


@dataclass(slots=True)
class _Branch:
    """A node of the path tree: children by path segment, or by variable."""

    by_part: dict[str, "_Branch"] = field(default_factory=dict)
    variable: "_Branch | None" = None
    methods: Methods = field(default_factory=dict)


class Routing(BaseRoute):
    """All endpoints of the table as one starlette route.

    `elsewhere` has paths of another route, which no variable of a path here stands for.
    """

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        runtime: Runtime,
        *,
        elsewhere: Collection[str] = frozenset(),
    ) -> None:
        self._runtime = runtime
        self._elsewhere = elsewhere
        self._root = _Branch()
        self._by_path: dict[str, Methods] = {}
        for endpoint in endpoints:
            methods = self._grown(endpoint.path)
            if endpoint.method in methods:
                raise ValueError(f"{endpoint.method} {endpoint.path} stands twice in the table")
            methods[endpoint.method] = endpoint
            if "{" not in endpoint.path:
                self._by_path[endpoint.path] = methods

    def _grown(self, path: str) -> Methods:
        branch = self._root
        for part in path.split("/"):
            if not part.startswith("{"):
                branch = branch.by_part.setdefault(part, _Branch())
                continue
            if branch.variable is None:
                branch.variable = _Branch()
            branch = branch.variable
        return branch.methods

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return starlette's match for a path; the method is checked later."""
        if scope["type"] != "http":
            return Match.NONE, {}
        path = scope["path"]
        if path in self._elsewhere:
            return Match.NONE, {}
        methods = self._by_path.get(path) or _walk(self._root, path.split("/"))
        return (Match.FULL, {_FOUND: methods}) if methods else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request and send the response."""
        methods: Methods = scope[_FOUND]
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        endpoint = methods.get(method)
        scope[ROUTE] = next(iter(methods.values())).path if endpoint is None else endpoint.path
        try:
            if endpoint is None:
                response = _no_such_method(scope, methods)
            else:
                response = await self._answered(endpoint, Request(scope, receive, send))
            await response(scope, receive, send)
        finally:
            release(scope)
            self._runtime.in_flight.end(scope)

    async def _answered(self, endpoint: Endpoint, request: Request) -> Response:
        limits: RawHeaders = []
        try:
            response = await self._handled(endpoint, request, limits)
        except RateLimitExceeded as exc:
            limits = limit_headers(exc.bucket, b"project" if exc.what == PROJECT else b"key")
            response = refusal(request.scope, exc)
        except MailqueueError as exc:
            response = refusal(request.scope, exc)
        except HTTPException as exc:
            response = http_refusal(request.scope, exc)
        response.raw_headers += limits
        return response

    async def _handled(self, endpoint: Endpoint, request: Request, limits: RawHeaders) -> Response:
        path = variables(endpoint, request.scope["path"])
        who = await authenticate(endpoint, self._runtime, request, path=path)
        if isinstance(who, Caller):
            self._runtime.in_flight.begin(request.scope, who.project_id)
            limits += limit_headers(await check_rate_limit(who, self._runtime.allowance))
            admit(request.scope, self._runtime.bodies, who)
        call = RequestContext(
            self._runtime, request, path, who=who, is_read_only=reads_only(endpoint, who)
        )
        if endpoint.query is not None or request.scope["query_string"]:
            call.query = parse_query(endpoint.query, request)
        body = b""
        if endpoint.request is not None:
            check_type(request)
            body = await body_of(request)
            call.size = len(body)
            call.body = await read_as(endpoint.request, request, body)
        if endpoint.once_is in (Once.NEVER, Once.ITSELF) or call.idempotency_key is None:
            return await _answer(endpoint, call)
        if endpoint.request is None:
            body = request._body = await body_of(request)  # where a handler's own parsing finds it
        return await respond_once(endpoint, call, body, answering=lambda: _answer(endpoint, call))


async def _answer(endpoint: Endpoint, call: RequestContext) -> Response:
    answer = await endpoint.handler(call)
    if isinstance(answer, Response):
        return answer
    headers = {REPLAYED: "true"} if isinstance(answer, Repeated) else None
    return json_answer(answer, status=endpoint.status, headers=headers)


def limit_headers(bucket: BucketState | None, of: bytes = b"key") -> RawHeaders:
    """Return the rate limit headers (draft-ietf-httpapi-ratelimit-headers-10)."""
    if bucket is None:
        return []
    policy = b'"%b";q=%d;w=%d' % (of, bucket.limit, WINDOW_SECONDS)
    left = b'"%b";r=%d;t=%d' % (of, bucket.left, bucket.full_seconds)
    return [(b"ratelimit-policy", policy), (b"ratelimit", left)]


def variables(endpoint: Endpoint, path: str) -> Mapping[str, str]:
    """Return the values of the endpoint's path variables."""
    if "{" not in endpoint.path:
        return {}
    both = zip(endpoint.path.split("/"), path.split("/"), strict=True)
    return {name[1:-1]: given for name, given in both if name.startswith("{")}


def _walk(branch: _Branch, parts: list[str]) -> Methods | None:
    """Return the methods of a path; a literal segment takes precedence over a variable."""
    if not parts:
        return branch.methods or None
    first, *rest = parts
    named = branch.by_part.get(first)
    if named is not None and (found := _walk(named, rest)):
        return found
    if branch.variable is None or not first or "\0" in first:
        return None
    return _walk(branch.variable, rest)


def _no_such_method(scope: Scope, methods: Methods) -> Response:
    allowed = sorted({*methods, *(["HEAD"] if "GET" in methods else [])})
    status = HTTPStatus.METHOD_NOT_ALLOWED
    return error_answer(
        scope,
        status,
        "method_not_allowed",
        f"{scope['method'][:20]} is not allowed here, use {', '.join(allowed)}",
        headers={"Allow": ", ".join(allowed)},
    )
