"""Cursors of lists: the key of the last row of a page, behind which the next page begins."""

import base64
import binascii
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from mailqueue.core.errors import InvalidField

_MAX_CURSOR_CHARACTERS = 2000


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
        octets = cursor[:_MAX_CURSOR_CHARACTERS].encode("ascii")
        padded = octets + b"=" * (-len(octets) % 4)
        found = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if not isinstance(found, list) or len(found) != len(kinds):
            raise ValueError("another list's")
        return tuple(_read(kind, given) for kind, given in zip(kinds, found, strict=True))
    except (ValueError, binascii.Error):
        raise InvalidField(
            "cursor", "is not a cursor of this list: pass `next_cursor` of the previous page"
        ) from None


def _read(kind: type, value: object) -> Any:
    if kind is int and type(value) is int and abs(value) < 2**63:
        return value
    if isinstance(value, str) and "\0" not in value:
        if kind is str:
            return value
        if kind is UUID:
            return UUID(value)
        if kind is datetime:
            return _aware(datetime.fromisoformat(value))
    raise ValueError("another kind")


def _aware(instant: datetime) -> datetime:
    if instant.tzinfo is None:
        raise ValueError("no zone")
    return instant
