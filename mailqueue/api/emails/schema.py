"""Types of the API's texts and numbers. Values only."""

import math
from typing import Annotated, Any

from pydantic import AfterValidator, JsonValue

from mailqueue.core.storable_text import MAX_LEVELS, TOO_DEEP

LARGEST_INTEGER = 2**63 - 1


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


def _whole(value: int) -> int:
    _storable(value)
    return value


def _object(value: dict[str, Any]) -> dict[str, Any]:
    _storable(value)
    return value


StorableText = Annotated[str, AfterValidator(_text)]
Whole = Annotated[int, AfterValidator(_whole)]
StorableObject = Annotated[dict[str, JsonValue], AfterValidator(_object)]
