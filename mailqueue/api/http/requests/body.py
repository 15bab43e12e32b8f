"""Reading of requests: a body of bounded size and time, JSON, and the query."""

import asyncio
from collections.abc import Coroutine, Iterator
from http import HTTPStatus
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from mailqueue.api.http.requests.large_bodies import LARGE_BYTES, expect, in_turn, receive
from mailqueue.api.http.responses import HEAD, Violations, invalid_request
from mailqueue.api.http.validation import count_values, validated_json
from mailqueue.core.errors import InvalidField
from mailqueue.core.json.size import most_values_in

BODY_BYTES = 30 * 1024 * 1024
BODY_SECONDS = 60.0
HEAVY_VALUES = 20_000
"""Number of JSON values from which a small body is parsed in a thread, like a large one."""
_JSON = b"application/json"
_NOT_JSON = (b"multipart/", b"text/xml", b"application/xml", b"image/", b"audio/", b"video/")
_NUL = b"\\u0000"


async def body_of(request: Request, *, max_bytes: int = BODY_BYTES) -> bytes:
    """Read the body.

    Raises:
        HTTPException: 413 beyond `max_bytes`, without reading further; 408 when it takes longer
            than BODY_SECONDS; 415 when it is compressed; 503 when memory is short.
        TooManyRequests: the key or project sends large bodies too fast.
    """
    head = headers_by_name(request)
    length = head.get(b"content-length", b"")
    declared = int(length[:20]) if length.isdigit() else 0
    if declared > max_bytes:
        raise _too_large(max_bytes)
    if head.get(b"content-encoding", b"identity").lower() != b"identity":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must not be compressed")
    try:
        return await _in_time(_bounded(request, max_bytes, declared))
    except ClientDisconnect:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the body ended early") from None


def headers_by_name(request: Request) -> dict[bytes, bytes]:
    """Return the headers by name, as a dict built once per request."""
    found: dict[bytes, bytes] | None = request.scope.get(HEAD)
    if found is None:
        found = request.scope[HEAD] = dict(request.scope["headers"])
    return found


async def _in_time(reading: Coroutine[Any, Any, bytes]) -> bytes:
    """Read within BODY_SECONDS, at a quarter of the cost of asyncio.timeout."""
    task, is_late = asyncio.current_task(), False
    assert task is not None

    def cut() -> None:
        nonlocal is_late
        is_late = True
        task.cancel()

    timer = asyncio.get_running_loop().call_later(BODY_SECONDS, cut)
    try:
        return await reading
    except asyncio.CancelledError:
        if is_late and task.uncancel() == 0:
            why = f"the body took longer than {BODY_SECONDS:.0f} s"
            raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, why, {"Connection": "close"}) from None
        raise
    finally:
        timer.cancel()


async def _bounded(request: Request, max_bytes: int, declared: int) -> bytes:
    chunks: list[bytes] = []
    size = counted = 0
    if declared > LARGE_BYTES:
        await expect(request.scope, declared)
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > max_bytes:
            raise _too_large(max_bytes)
        if size > LARGE_BYTES:
            if not counted:
                await expect(request.scope, declared or max_bytes)
            receive(request.scope, size - counted)
            counted = size
        if not message.get("more_body", False):
            return b"".join([*chunks, chunk]) if chunks else chunk  # one chunk in most cases
        chunks.append(chunk)


def _too_large(max_bytes: int) -> HTTPException:
    shown = (
        f"{max_bytes // (1024 * 1024)} MiB" if max_bytes >= 1024 * 1024 else f"{max_bytes} bytes"
    )
    return HTTPException(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is too large: at most {shown} are allowed"
    )


def check_type(request: Request) -> None:
    """Refuse a body whose Content-Type is not JSON; a body without one is read as JSON.

    Raises:
        HTTPException: 415.
    """
    given = headers_by_name(request).get(b"content-type", b"")
    if given != _JSON and given.lower().startswith(_NOT_JSON):
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "the body must be JSON: send Content-Type: application/json",
        )


async def read_as(model: type[BaseModel], request: Request, body: bytes) -> BaseModel:
    """Return the body of a request as the model; large bodies are parsed in a thread.

    Raises:
        InputError: it is not JSON, or a field is invalid; names the first.
    """
    return await in_turn(request, lambda: parse_body(model, body), is_large=is_heavy(body))


def is_heavy(body: bytes) -> bool:
    """Return whether parsing a body takes long enough to delay other requests."""
    return len(body) > LARGE_BYTES or most_values_in(body) > HEAVY_VALUES


def parse_body(model: type[BaseModel], body: bytes) -> BaseModel:
    """Return the body as the model; no body is an empty object.

    Raises:
        InputError: it is not JSON, or a field is invalid; names the first.
    """
    count = count_values(body)
    if _NUL in body:
        _refuse_nul(body)
    if not body and not any(field.is_required() for field in model.model_fields.values()):
        body = b"{}"
    try:
        return validated_json(model, body or b"{}", count)
    except ValidationError as exc:
        raise invalid_request(exc) from None


def parse_query(model: type[BaseModel] | None, request: Request) -> BaseModel | None:
    """Return the query as the model; a repeated name is a list.

    Raises:
        InvalidField: a parameter is invalid or unknown.
    """
    found: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if "\0" in value:
            raise InvalidField(name[:100], "the character NUL is not allowed")
        found[name] = value if name not in found else [*_listed(found[name]), value]
    if model is None:
        if found:
            raise Violations([(next(iter(found))[:100], "there is no such parameter")])
        return None
    try:
        return model.model_validate(found)
    except ValidationError as exc:
        raise invalid_request(exc) from None


def _listed(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]


def _refuse_nul(body: bytes) -> None:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return  # the model reports it with a better text
    if isinstance(document, dict):
        for name, value in document.items():
            if any("\0" in text for text in _texts([name, value])):
                raise InvalidField(
                    name.replace("\0", "?")[:100], "the character NUL is not allowed"
                )


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case list() as some:
                waiting += some
            case dict() as fields:
                waiting += [*fields, *fields.values()]
