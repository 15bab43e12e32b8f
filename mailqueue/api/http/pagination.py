"""Pagination by the key of the last row, encoded in a cursor."""

import base64
import binascii
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar
from uuid import UUID

import orjson
from pydantic import Field

from mailqueue.api.http.schema_base import RequestModel
from mailqueue.contract.page import Page
from mailqueue.core.errors import InvalidField

T = TypeVar("T")
LARGEST_PAGE = 200
_LARGEST_CURSOR = 1000


class PageQuery(RequestModel):
    """The query of a list; lists with filters extend it."""

    limit: Annotated[int, Field(ge=1, le=LARGEST_PAGE)] = 50
    """Maximum number of items per page."""
    cursor: str | None = None
    """`next_cursor` of the previous page; first page if omitted."""


def page_of(rows: Sequence[T], limit: int, *, key: Callable[[T], Sequence[Any]]) -> Page[T]:
    """Return one page of rows read with `limit + 1`; `key` returns the sort key of a row."""
    shown = list(rows[:limit])
    more = len(rows) > limit
    return Page(shown, cursor_of(*key(shown[-1])) if more else None)


def cursor_of(*key: Any) -> str:
    """Return the key of a row as a cursor."""
    return base64.urlsafe_b64encode(orjson.dumps(list(key))).rstrip(b"=").decode()


def key_of(cursor: str | None, *kinds: type) -> tuple[Any, ...]:
    """Return the values of a cursor, each None or of the type in `kinds` (str, int, UUID,
    datetime).

    Raises:
        InvalidField: the cursor was not issued by this API.
    """
    if cursor is None:
        return (None,) * len(kinds)
    try:
        octets = cursor[:_LARGEST_CURSOR].encode("ascii")
        padded = octets + b"=" * (-len(octets) % 4)
        found = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if not isinstance(found, list) or len(found) != len(kinds):
            raise ValueError("another list's")
        return tuple(_read(kind, given) for kind, given in zip(kinds, found, strict=True))
    except (ValueError, binascii.Error):
        raise InvalidField(
            "cursor", "is not a cursor of this list: pass `next_cursor` of the previous page"
        ) from None


def _read(kind: type, given: object) -> Any:
    if kind is int and type(given) is int and abs(given) < 2**63:
        return given
    if isinstance(given, str) and "\0" not in given:
        if kind is str:
            return given
        if kind is UUID:
            return UUID(given)
        if kind is datetime:
            return _aware(datetime.fromisoformat(given))
    raise ValueError("another kind")


def _aware(instant: datetime) -> datetime:
    if instant.tzinfo is None:
        raise ValueError("no zone")
    return instant
