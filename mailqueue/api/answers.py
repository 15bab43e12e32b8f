"""Decides how results and errors look in HTTP: JSON, one shape of error, no traceback."""

from collections.abc import Mapping
from http import HTTPStatus

import orjson
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mailqueue.core.errors import (
    Conflict,
    Forbidden,
    InputError,
    InvalidField,
    LimitReached,
    MailqueueError,
    NoRoom,
    NotFound,
    Unavailable,
)

STATUS_BY_ERROR: Mapping[type[MailqueueError], tuple[HTTPStatus, str]] = {
    InvalidField: (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_field"),
    NotFound: (HTTPStatus.NOT_FOUND, "not_found"),
    Conflict: (HTTPStatus.CONFLICT, "conflict"),
    Forbidden: (HTTPStatus.FORBIDDEN, "forbidden"),
    LimitReached: (HTTPStatus.TOO_MANY_REQUESTS, "limit_reached"),
    InputError: (HTTPStatus.BAD_REQUEST, "invalid_request"),
    NoRoom: (HTTPStatus.SERVICE_UNAVAILABLE, "no_room"),
    Unavailable: (HTTPStatus.SERVICE_UNAVAILABLE, "unavailable"),
    MailqueueError: (HTTPStatus.INTERNAL_SERVER_ERROR, "internal"),
}
# What pydantic says, in our words.
_WHY_BY_FAULT = {"missing": "is needed", "extra_forbidden": "there is no such field"}


class BadJson(InputError):
    """The body is no JSON document."""


def json_answer(document: object, *, status: int = 200) -> Response:
    """Give a value as JSON: dataclasses, UUIDs and instants included."""
    body = orjson.dumps(document, option=orjson.OPT_UTC_Z)
    return Response(body, status, media_type="application/json")


def error_answer(
    status: int,
    kind: str,
    message: str,
    *,
    field: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Give an error in the shape all errors have."""
    error = {"type": kind, "message": message} | ({"field": field} if field else {})
    answer = json_answer({"error": error}, status=status)
    answer.headers.update(headers or {})
    return answer


def invalid_request(exc: ValidationError) -> InputError:
    """Word the first thing wrong with a body; what was given is never repeated."""
    first = exc.errors(include_input=False, include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return BadJson(f"the body is not JSON: {first['msg'].removeprefix('Invalid JSON: ')}")
    if not first["loc"]:
        return BadJson("the body must be a JSON object")
    field = str(first["loc"][0])
    why = _WHY_BY_FAULT.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    return InvalidField(field[:100], why[:1].lower() + why[1:])


async def answer_error(request: Request, exc: Exception) -> Response:  # noqa: ARG001
    """Answer an error of ours."""
    status, kind = next(
        answer for error, answer in STATUS_BY_ERROR.items() if isinstance(exc, error)
    )
    field = exc.field if isinstance(exc, InvalidField) else None
    headers = {}
    if isinstance(exc, Unavailable):
        headers["Retry-After"] = "60" if isinstance(exc, NoRoom) else "5"
    if isinstance(exc, LimitReached):
        headers["Retry-After"] = str(int(exc.retry_after.total_seconds()) + 1)
    return error_answer(status, kind, str(exc), field=field, headers=headers)


async def answer_http_error(request: Request, exc: Exception) -> Response:  # noqa: ARG001
    """Answer an error of HTTP itself: no such path, method, or a body too large."""
    assert isinstance(exc, HTTPException)
    kind = HTTPStatus(exc.status_code).name.lower()
    return error_answer(exc.status_code, kind, exc.detail, headers=exc.headers)


async def answer_fault(request: Request, exc: Exception) -> Response:  # noqa: ARG001
    """Answer a fault of ours without a word about it; the server logs the traceback."""
    return error_answer(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "something is wrong here")
