"""HTTP responses: results and errors as JSON, without tracebacks."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from mailqueue.core.errors import (
    Conflict,
    Forbidden,
    InputError,
    InvalidField,
    LimitReached,
    Locked,
    MailqueueError,
    NotFound,
    ProjectFull,
    StorageFull,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from mailqueue.core.json.writing import write_json
from mailqueue.web.schemas import why_invalid

RawHeaders = list[tuple[bytes, bytes]]
"""Response headers as ASGI sends them: names in lower case, and values."""

STATUS_BY_ERROR: Mapping[type[MailqueueError], tuple[HTTPStatus, str]] = {
    Unauthorized: (HTTPStatus.UNAUTHORIZED, "unauthorized"),
    InvalidField: (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_field"),
    NotFound: (HTTPStatus.NOT_FOUND, "not_found"),
    Conflict: (HTTPStatus.CONFLICT, "conflict"),
    Locked: (HTTPStatus.CONFLICT, "locked"),
    Forbidden: (HTTPStatus.FORBIDDEN, "forbidden"),
    TooManyRequests: (HTTPStatus.TOO_MANY_REQUESTS, "rate_limit_exceeded"),
    LimitReached: (HTTPStatus.TOO_MANY_REQUESTS, "quota_exceeded"),
    ProjectFull: (HTTPStatus.TOO_MANY_REQUESTS, "quota_exceeded"),
    InputError: (HTTPStatus.BAD_REQUEST, "invalid_request"),
    StorageFull: (HTTPStatus.SERVICE_UNAVAILABLE, "no_room"),
    Unavailable: (HTTPStatus.SERVICE_UNAVAILABLE, "unavailable"),
    MailqueueError: (HTTPStatus.INTERNAL_SERVER_ERROR, "internal"),
}
GUARDS: Mapping[str, str] = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""Headers of every JSON response, for browsers."""
MAX_VIOLATIONS = 20


REQUEST_ID = "mailqueue.request_id"
IS_NAMED = "mailqueue.is_named"
"""Key in the request scope: whether the caller chose the request id."""
AWAY = "mailqueue.away"
"""Key in the request scope: the cause of an unavailable service, for the log only."""
HEAD = "mailqueue.head"
"""Key in the request scope: the headers by name."""
_GUARDS = [(name.encode(), text.encode()) for name, text in GUARDS.items()]


class _Written(Response):
    """A response with prepared headers, because starlette's header handling is slow."""

    def __init__(self, body: bytes, status: int) -> None:
        self.status_code = status
        self.background = None
        self.body = body
        self.raw_headers = [*_GUARDS, (b"content-length", b"%d" % len(body))]


class BadJson(InputError):
    """The body is not a JSON document."""


class Busy(Conflict):
    """The same operation is in progress; retry after a short wait."""


class Violations(InvalidField):
    """Several fields of a request are invalid; the first is named."""

    def __init__(self, violations: Sequence[tuple[str, str]]) -> None:
        path, why = violations[0]
        field, _, within = path.partition(".")
        super().__init__(field, f"{within}: {why}" if within else why)
        self.violations = list(violations)


def json_answer(
    document: object, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a value as JSON: dataclasses, models, UUIDs and instants included."""
    body = b"" if status == HTTPStatus.NO_CONTENT else as_json(document)
    return json_bytes_answer(body, status=status, headers=headers)


def json_bytes_answer(
    body: bytes,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    content_type: str | None = None,
) -> Response:
    """Return a response with a body that is already serialised."""
    answer = _Written(body, status)
    if headers:
        answer.raw_headers += [
            (name.lower().encode(), text.encode("latin-1")) for name, text in headers.items()
        ]
    if content_type is not None:
        answer.headers["content-type"] = content_type
    return answer


def as_json(document: object) -> bytes:
    """Return a value as JSON bytes."""
    return write_json(document, default=_plain, option=orjson.OPT_UTC_Z)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True)
    if isinstance(value, tuple):
        fields: tuple[str, ...] | None = getattr(value, "_fields", None)
        return dict(zip(fields, value, strict=True)) if fields else list(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError(f"no JSON for {type(value).__name__}")


def error_answer(
    scope: Scope,
    status: int,
    name: str,
    message: str,
    *,
    more: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error response."""
    document = {"statusCode": status, "name": name, "message": message, **(more or {})}
    return json_answer(
        document | {"request_id": scope.get(REQUEST_ID)}, status=status, headers=headers
    )


def invalid_request(exc: ValidationError) -> InputError:
    """Return the error messages for a body or query; input values are never repeated."""
    found = exc.errors(include_url=False, include_context=False)
    first = found[0]
    if first["type"] == "json_invalid":
        return BadJson(f"the body is not JSON: {first['msg'].removeprefix('Invalid JSON: ')}")
    if not first["loc"]:
        if first["type"] != "value_error":
            return BadJson("the body must be a JSON object")
        return BadJson(first["msg"].removeprefix("Value error, "))
    violations = {
        _path(each["loc"]): why_invalid(
            each["type"], each["msg"], is_text=isinstance(each["input"], str)
        )
        for each in reversed(found)
    }
    return Violations(list(reversed(violations.items()))[:MAX_VIOLATIONS])


def _path(loc: tuple[int | str, ...]) -> str:
    # A union includes its branches, such as `function-after[_text(), str]`: not shown to callers.
    first, *others = loc
    kept = [str(first), *(str(each) for each in others if "[" not in str(each))]
    return ".".join(each[:100] for each in kept)[:300]


def refusal(scope: Scope, exc: MailqueueError) -> Response:
    """Return the response to an error raised on purpose."""
    status, name = next(
        answer for error, answer in STATUS_BY_ERROR.items() if isinstance(exc, error)
    )
    more: dict[str, object] = {}
    headers: dict[str, str] = {}
    match exc:
        case InvalidField():
            more = {"field": exc.field}
            if isinstance(exc, Violations):
                more["violations"] = [
                    {"field": path, "message": why} for path, why in exc.violations
                ]
        case Forbidden():
            more = {"needed": exc.needed}
        case Unauthorized():
            headers["WWW-Authenticate"] = "Bearer"
    headers |= retry_after(exc)
    why = exc.public_message if isinstance(exc, Unavailable) else str(exc)
    note_away(scope, exc)
    return error_answer(scope, status, name, why, more=more, headers=headers)


def retry_after(exc: Exception) -> dict[str, str]:
    """Return the header Retry-After for an error after which a client may try again, or none."""
    match exc:
        case Busy():
            seconds = 1
        case StorageFull() | ProjectFull():
            seconds = 60
        case Unavailable():
            seconds = 5
        case LimitReached() | TooManyRequests():
            seconds = max(1, -int(-exc.retry_after.total_seconds() // 1))
        case _:
            return {}
    return {"Retry-After": str(seconds)}


def note_away(scope: Scope, exc: Exception) -> None:
    """Store the cause of an unavailable service for the log; the response says less."""
    if isinstance(exc, Unavailable):
        scope[AWAY] = str(exc)


def http_refusal(scope: Scope, exc: HTTPException) -> Response:
    """Return the response to an HTTP error: unknown path or method, or a body too large."""
    name = HTTPStatus(exc.status_code).name.lower()
    return error_answer(scope, exc.status_code, name, exc.detail, headers=exc.headers)


async def answer_error(request: Request, exc: Exception) -> Response:
    """Return the response to an error raised on purpose, for starlette."""
    assert isinstance(exc, MailqueueError)
    return refusal(request.scope, exc)


async def answer_http_error(request: Request, exc: Exception) -> Response:
    """Return the response to an HTTP error, for starlette."""
    assert isinstance(exc, HTTPException)
    return http_refusal(request.scope, exc)


async def answer_fault(request: Request, exc: Exception) -> Response:  # noqa: ARG001
    """Return the response to an unexpected error, without details; the traceback is logged."""
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    return error_answer(
        request.scope, status, "internal", "internal error; report it with the request id"
    )
