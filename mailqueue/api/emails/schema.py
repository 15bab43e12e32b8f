"""Types of the API's texts, numbers and timestamps. Values only."""

import math
import re
import unicodedata
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, JsonValue

from mailqueue.core.storable_text import MAX_LEVELS, TOO_DEEP

LARGEST_INTEGER = 2**63 - 1
_NOT_OF_A_LINE = ("Cc", "Zl", "Zp")
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def _storable(value: JsonValue, level: int = 0) -> JsonValue:
    """Raise ValueError for a value that PostgreSQL or JSON cannot hold."""
    if level > MAX_LEVELS:
        raise ValueError(TOO_DEEP)
    match value:
        case str() if "\0" in value:
            raise ValueError("the character NUL is not allowed")
        case bool():
            pass
        case int() if abs(value) > LARGEST_INTEGER:
            raise ValueError("a whole number must fit into 64 bits")
        case float() if not math.isfinite(value):
            raise ValueError("a number must be finite")
        case list():
            for each in value:
                _storable(each, level + 1)
        case dict():
            for name, each in value.items():
                _storable(name)
                _storable(each, level + 1)
    return value


def _text(value: str) -> str:
    _storable(value)
    return value


def _line(value: str) -> str:
    if any(unicodedata.category(each) in _NOT_OF_A_LINE for each in value):
        raise ValueError("must not contain control characters")
    return _text(value)


def _whole(value: int) -> int:
    _storable(value)
    return value


def _object(value: dict[str, Any]) -> dict[str, Any]:
    _storable(value)
    return value


def _rfc_3339(value: object) -> object:
    """Raise ValueError for other formats; digits alone would be read as seconds since 1970."""
    if isinstance(value, datetime) or (isinstance(value, str) and _RFC_3339.fullmatch(value)):
        return value
    raise ValueError(
        "must be a timestamp in RFC 3339 format with an offset, such as 2030-05-01T08:00:00+02:00,"
        f" got {str(value)[:100]!r}"
    )


StorableText = Annotated[str, AfterValidator(_text)]
StorableLine = Annotated[str, AfterValidator(_line)]
"""A text for headers and subjects: without control characters and ends of lines."""
Whole = Annotated[int, AfterValidator(_whole)]
StorableObject = Annotated[dict[str, JsonValue], AfterValidator(_object)]
Instant = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_rfc_3339)]
"""A timestamp as a string in RFC 3339 format, with an offset."""
