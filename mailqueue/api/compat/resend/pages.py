"""Pages of lists in Resend's API, from the newest to the oldest."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

from pydantic import BaseModel, Field, ValidationError
from starlette.responses import Response

from mailqueue.api.compat.reading import document_of, query_of
from mailqueue.api.compat.resend.faults import InvalidKey, invalid_document
from mailqueue.api.http.context import RequestContext
from mailqueue.api.http.responses import json_answer
from mailqueue.api.http.schema_base import RequestModel
from mailqueue.api.http.validation import validated
from mailqueue.core.errors import InvalidField

MAX_BODY_BYTES = 64 * 1024
DEFAULT_LIMIT = 20
MAX_LIMIT = 100
MAX_KEY_CHARACTERS = 256
Item = TypeVar("Item")
Body = TypeVar("Body", bound=BaseModel)


class ListPage(RequestModel):
    """The query of a list: up to `limit` objects older than `after`, or newer than `before`."""

    limit: int | None = Field(default=None, ge=1, le=MAX_LIMIT)
    after: UUID | None = None
    before: UUID | None = None


Query = TypeVar("Query", bound=ListPage)


def page_query(call: RequestContext, model: type[Query]) -> Query:
    """Return the query of a list.

    Raises:
        InvalidField: a parameter is invalid, or `after` and `before` are both given.
    """
    query = query_of(call, model)
    if query.after is not None and query.before is not None:
        raise InvalidField("before", "cannot be given together with `after`")
    return query


def page_of(
    found: Sequence[Item], query: ListPage, id_of: Callable[[Item], UUID]
) -> tuple[Sequence[Item], bool]:
    """Return a page of a whole list, newest first, and whether more follow in its direction.

    A cursor that is not in the list stands before its beginning and after its end. Pure.
    """
    limit = query.limit or DEFAULT_LIMIT
    ids = [id_of(one) for one in found]
    if query.before is not None:
        newer = found[: ids.index(query.before)] if query.before in ids else found
        return newer[-limit:], len(newer) > limit
    older = found if query.after not in ids else found[ids.index(query.after) + 1 :]
    return older[:limit], len(older) > limit


def list_answer(data: Sequence[Any], has_more: bool) -> Response:
    """Return the response with a page."""
    return json_answer({"object": "list", "has_more": has_more, "data": data})


async def body_of(call: RequestContext, model: type[Body]) -> Body:
    """Return the body of a request.

    Raises:
        BadJson: it is not JSON.
        InvalidField: it is invalid.
    """
    document = await document_of(call, max_bytes=MAX_BODY_BYTES)
    try:
        return validated(model, document, call.values)
    except ValidationError as exc:
        raise invalid_document(exc) from None


def idempotency_key_of(call: RequestContext) -> str | None:
    """Return the idempotency key of a request; None if it has none.

    Raises:
        InvalidKey: it is empty or too long.
    """
    key = call.idempotency_key
    if key is not None and not 1 <= len(key) <= MAX_KEY_CHARACTERS:
        raise InvalidKey(f"The key must be between 1-{MAX_KEY_CHARACTERS} chars.")
    return key
