"""Idempotency: requests with the same Idempotency-Key take effect once and get the same response.

Key, effect and response are one transaction (Once.TOGETHER): a concurrent request waits for it,
and a crash leaves all or nothing. A handler that calls other servers must not hold a transaction
during the call (Once.APART): the key is committed first, and if no response follows, a repeated
request is refused instead of run again.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID

import orjson
from starlette.responses import Response

from mailqueue.api.http import store
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.endpoint import Endpoint, Once
from mailqueue.api.http.requests.large_bodies import LARGE_BYTES, in_turn
from mailqueue.api.http.responses import Busy, json_bytes_answer
from mailqueue.api.http.validation import MAX_VALUES
from mailqueue.core.errors import Conflict, InvalidField, MailqueueError
from mailqueue.core.json.size import values_in
from mailqueue.core.json.writing import write_json

NOBODYS = UUID(int=0)
REPLAYED = "Idempotent-Replayed"
FIELD = "Idempotency-Key"
STILL_RUNNING = timedelta(minutes=2)
_KEY = re.compile(r"[!-~]{1,255}")
Respond = Callable[[], Awaitable[Response]]


async def respond_once(
    endpoint: Endpoint, call: RequestContext, body: bytes, *, answering: Respond
) -> Response:
    """Return the response to a request, or the stored response of its idempotency key.

    Raises:
        InvalidField: the key is not valid, or was used for a different request.
        Busy: the same request is in progress.
    """
    given = call.idempotency_key
    once = endpoint.once_is
    if given is None or once in (Once.NEVER, Once.ITSELF):
        return await answering()
    check_key(given)
    is_heavy = len(body) > LARGE_BYTES
    found = await in_turn(call.request, lambda: _fingerprint(call, body), is_large=is_heavy)
    kept = store.ReservedKey(
        call.tenant or NOBODYS,
        call.kept_key(given),
        found,
        request_key=None if call.tenant is None else given,
        is_test=bool(call.is_test),
    )
    answer = _together if once is Once.TOGETHER else _apart
    try:
        return await answer(endpoint, call, kept, answering)
    except store.UsedByEmail:
        raise InvalidField(FIELD, "was used for an email") from None


def check_key(given: str) -> None:
    """Check the header Idempotency-Key.

    Raises:
        InvalidField: it is too long, or has other characters than visible ASCII.
    """
    if not _KEY.fullmatch(given):
        raise InvalidField(FIELD, "must be 1 to 255 visible ASCII characters")


async def _together(
    endpoint: Endpoint, call: RequestContext, reserved: store.ReservedKey, answering: Respond
) -> Response:
    async with call.in_one_transaction() as conn:
        earlier = await store.reserve_response(conn, reserved)
        if earlier is not None:
            return _again(reserved, earlier)
        response = await answering()
        await _keep(endpoint, call, reserved, response)
    return response


async def _apart(
    endpoint: Endpoint, call: RequestContext, reserved: store.ReservedKey, answering: Respond
) -> Response:
    async with call.connection() as conn:
        earlier = await store.reserve_response(conn, reserved)
    if earlier is not None:
        return _again(reserved, earlier)
    try:
        response = await answering()
    except MailqueueError:
        # Refused before anything was changed.
        async with call.connection() as conn:
            await store.release_response(conn, reserved)
        raise
    await _keep(endpoint, call, reserved, response)
    return response


async def _keep(
    endpoint: Endpoint, call: RequestContext, reserved: store.ReservedKey, response: Response
) -> None:
    async with call.connection() as conn:
        await store.store_response(
            conn,
            reserved,
            status=response.status_code,
            content_type=response.headers.get("content-type"),
            body=_without(bytes(getattr(response, "body", b"")), endpoint.hidden),
        )


def _again(reserved: store.ReservedKey, earlier: store.Earlier) -> Response:
    if earlier.fingerprint != reserved.fingerprint:
        raise InvalidField(FIELD, "was used for a different request in the last 24 hours")
    if earlier.status is None:
        if earlier.age < STILL_RUNNING:
            raise Busy("a request with this Idempotency-Key is in progress; try again")
        raise Conflict(
            "a request with this Idempotency-Key was started and never completed: check whether "
            "it took effect, and use another key to repeat it"
        )
    return json_bytes_answer(
        earlier.body or b"",
        status=earlier.status,
        headers={REPLAYED: "true"},
        content_type=earlier.content_type,
    )


def _fingerprint(call: RequestContext, body: bytes) -> bytes:
    """Return a fingerprint of a request: method, path, query and body."""
    request = call.request
    digest = hashlib.sha256(f"{request.method} {request.url.path}?{request.url.query}\n".encode())
    digest.update(_canonical(body))
    return digest.digest()


def _canonical(body: bytes) -> bytes:
    if values_in(body, few=MAX_VALUES, most=MAX_VALUES) > MAX_VALUES:
        return body  # handlers do not parse it as JSON
    try:
        return write_json(orjson.loads(body), option=orjson.OPT_SORT_KEYS)
    except (ValueError, TypeError):  # a file, or values that JSON cannot hold
        return body


def _without(body: bytes, hidden: tuple[str, ...]) -> bytes:
    """Return a response without secrets that are shown once."""
    if not hidden:
        return body
    document = orjson.loads(body)
    return write_json(document | {name: None for name in hidden if name in document})
