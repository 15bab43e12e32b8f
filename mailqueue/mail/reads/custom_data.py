"""Filter of mail by its custom data, as callers write it. Pure."""

import json
from typing import Any, NamedTuple

from mailqueue.core.errors import InvalidField
from mailqueue.core.storable_text import unstorable

FIELD = "custom_data"
NOT_SEARCHED = ("variables", "$project")
"""Keys of custom data that are not searched: template variables, and the index's own."""
MAX_CHARACTERS = 2000
"""Characters of a filter; mail with more custom data than this is not searched."""


class DataFilter(NamedTuple):
    """Objects as JSON: custom data must contain the one, or the other where there is one."""

    data: str
    or_data: str | None = None


def parse_filter(text: str) -> DataFilter:
    """Return the filter of `KEY=VALUE` or of a JSON object.

    VALUE is a text, and also the number, `true` or `false` that is written so.

    Raises:
        InvalidField: the text is neither, too long, or has no value to search for.
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidField(FIELD, f"at most {MAX_CHARACTERS} characters, got {len(text)}")
    if text.lstrip().startswith("{"):
        _check(_object(text))
        return DataFilter(text)
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InvalidField(FIELD, f"must be KEY=VALUE or a JSON object, got {text[:100]!r}")
    _check({key: value})
    as_text = json.dumps({key: value})
    if not _is_scalar(value):
        return DataFilter(as_text)
    return DataFilter(as_text, f"{{{json.dumps(key)}: {value}}}")  # with all its digits


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidField(FIELD, f"not valid JSON: {text[:100]!r}") from None
    assert isinstance(found, dict), "it begins with a brace"
    return found


def _check(data: dict[str, Any]) -> None:
    if (fault := unstorable(FIELD, data)) is not None:
        raise fault
    for key in NOT_SEARCHED:
        if key in data:
            raise InvalidField(FIELD, f"{key} of custom_data is not searched")
    if not _has_value(data):
        raise InvalidField(FIELD, "needs at least one value to search for")


def _has_value(value: object) -> bool:
    """Return whether JSON has a value other than objects and lists; storable JSON is not deep."""
    match value:
        case dict():
            return any(map(_has_value, value.values()))
        case list():
            return any(map(_has_value, value))
    return True


def _is_scalar(text: str) -> bool:
    """Return whether a text is a number or truth value in JSON that could be stored."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, (int, float)) and unstorable(FIELD, found) is None
