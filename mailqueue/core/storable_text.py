"""Checks which texts and JSON values PostgreSQL can store and every JSON parser can read. Pure."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from mailqueue.core.errors import InvalidField

MAX_LEVELS = 100
"""Levels of nested objects and lists in a JSON value; the same limit as SQL's json_fault()."""
TOO_DEEP = f"at most {MAX_LEVELS} nested levels"
MIN_INTEGER, MAX_INTEGER = -(2**63), 2**64 - 1
"""Range of the whole numbers that are accepted in JSON."""


def unstorable(name: str, value: object) -> InvalidField | None:
    """Return an error for a text, number or depth that cannot be stored or read, or None.

    Lists and mappings are searched; if `name` is empty, a value in a mapping is named by its key.
    """
    for field, each, level in _values(name, value, 0):
        why = _fault(each, level)
        if why is not None:
            return InvalidField(field, why)
    return None


def _fault(value: object, level: int) -> str | None:
    if level > MAX_LEVELS:
        return TOO_DEEP
    match value:
        case str() if "\0" in value:
            return "a NUL character is not allowed"
        case str() if not _is_unicode(value):
            return "it is not valid Unicode"
        case int() if not MIN_INTEGER <= value <= MAX_INTEGER:
            return "a whole number must fit into 64 bits"
        case float() if not math.isfinite(value):
            return "a number must be finite"
    return None


def _values(name: str, value: object, level: int) -> Iterator[tuple[str, object, int]]:
    """Yield each value with its field and level; values below the deepest level are left out."""
    yield name, value, level
    if level > MAX_LEVELS:
        return
    match value:
        case Mapping():
            for key, item in value.items():
                under = name or str(key)
                yield under, key, level
                yield from _values(under, item, level + 1 if name else 0)
        case list() | tuple():
            for item in value:
                yield from _values(name, item, level + 1)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def storable(text: str | None) -> str | None:
    """Return a text without NUL and lone surrogates, which PostgreSQL cannot store."""
    return None if text is None else text.replace("\0", "").encode("utf-8", "replace").decode()


def storable_json(value: Any) -> Any:
    """Return JSON without what PostgreSQL cannot store: NUL, lone surrogates, infinity, NaN."""
    match value:
        case str():
            return storable(value)
        case Mapping():
            return {storable(str(name)): storable_json(item) for name, item in value.items()}
        case list() | tuple():
            return [storable_json(item) for item in value]
        case float() if not math.isfinite(value):
            return None
    return value
