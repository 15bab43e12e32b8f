"""Parse the JSON bodies and the queries of compatible APIs."""

from collections.abc import Callable, Collection
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from mailqueue.api.compat.drain import drained_body
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.requests.body import is_heavy
from mailqueue.api.http.requests.large_bodies import in_turn
from mailqueue.api.http.responses import BadJson, invalid_request
from mailqueue.api.http.validation import count_values
from mailqueue.core.errors import InvalidField
from mailqueue.core.storable_text import unstorable

Model = TypeVar("Model", bound=BaseModel)


class BadParameter(InvalidField):
    """A parameter of the query is invalid; it is named as the client wrote it."""


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


def query_of(call: RequestContext, model: type[Model], *, lists: Collection[str] = ()) -> Model:
    """Return the query; names of parameters may be in any case, as the providers' clients differ.
    The parameters `lists` may be repeated.

    Raises:
        BadParameter: a parameter is invalid, unknown or repeated.
    """
    given: dict[str, str] = {}
    listed: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for name, text in call.request.query_params.multi_items():
        if name.lower() in given:
            raise BadParameter(name[:100], "may be given once")
        fault = unstorable(name.replace("\0", "?")[:100], [name, text])
        if fault is not None:
            raise BadParameter(fault.field, fault.why)
        if name.lower() in lists:
            listed.setdefault(name.lower(), []).append(text)
        else:
            given[name.lower()] = text
        names[name.lower()] = name
    try:
        return model.model_validate({**given, **listed})
    except ValidationError as exc:
        wrong = invalid_request(exc)
        if not isinstance(wrong, InvalidField):
            raise wrong from None
        raise BadParameter(names.get(wrong.field, wrong.field)[:100], wrong.why) from None
