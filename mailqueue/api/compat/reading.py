"""Parse the JSON bodies of compatible APIs."""

from collections.abc import Callable
from typing import Any

import orjson

from mailqueue.api.compat.drain import drained_body
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.requests.body import is_heavy
from mailqueue.api.http.requests.large_bodies import in_turn
from mailqueue.api.http.responses import BadJson
from mailqueue.api.http.validation import count_values


async def document_of(
    call: RequestContext, *, max_bytes: int, prepared: Callable[[bytes], bytes] | None = None
) -> Any:
    """Return the body as JSON, after `prepared`; an empty body is an empty object.

    Sets the request context's size and number of values.

    Raises:
        BadJson: it is not JSON.
        InvalidField: it has too many values.
        HTTPException: it is larger than `max_bytes` bytes, received too slowly, or compressed.
    """
    body = await drained_body(call.request, max_bytes=max_bytes)
    call.size = len(body)

    def read() -> tuple[int, Any]:
        text = body if prepared is None else prepared(body)
        return count_values(text), parsed_json(text)

    call.values, document = await in_turn(call.request, read, is_large=is_heavy(body))
    return document


def parsed_json(body: bytes) -> Any:
    """Return a body as JSON; an empty body is an empty object.

    Raises:
        BadJson: it is not JSON.
    """
    try:
        return orjson.loads(body or b"{}")
    except orjson.JSONDecodeError as exc:
        raise BadJson(f"the body is not JSON: {exc.msg}") from None
