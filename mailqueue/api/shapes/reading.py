"""Reads the JSON that clients of other APIs send."""

from typing import Any

import orjson

from mailqueue.api.answers import BadJson
from mailqueue.api.call import Call
from mailqueue.api.shapes.patience import heard_out


async def document_of(call: Call, *, most: int) -> Any:
    """Give the body as JSON; no body is an empty object. The call knows its size afterwards.

    Raises:
        BadJson: it is none.
        HTTPException: it is larger than `most` bytes, comes too slowly, or is compressed.
    """
    return json_of(call, await heard_out(call.request, most=most))


def json_of(call: Call, body: bytes) -> Any:
    """Give a body that was read as JSON.

    Raises:
        BadJson: it is none.
    """
    call.size = len(body)
    return parsed_json(body)


def parsed_json(body: bytes) -> Any:
    """Give a body as JSON; none is an empty object.

    Raises:
        BadJson: it is none.
    """
    try:
        return orjson.loads(body or b"{}")
    except orjson.JSONDecodeError as exc:
        raise BadJson(f"the body is not JSON: {exc.msg}") from None
