"""Reads JSON text from PostgreSQL; values that Python cannot represent are read partly. Pure.

Values more than 200 levels deep, and numbers beyond a double, are returned as text.
"""

import json
import re
from typing import Any

import orjson

MAX_LEVELS = 200
"""Nested objects and lists in a JSON value; serialized responses may have 254."""

_MARGIN = 40  # levels of a response around a value
_TOKEN = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+"?)|([\[{])|([\]}])|([^\s\[\]{},:"]+)', re.DOTALL)
_STRING, _OPENS, _CLOSES, _BARE = range(1, 5)  # its groups


class Unreadable(str):
    """The text of a value for which Python has no representation."""

    __slots__ = ()


class PartlyRead(dict[str, Any]):
    """A JSON object in which values that cannot be represented are text."""


def read_json(data: bytes | str) -> Any:
    """Return the value of JSON text from PostgreSQL; the result can always be serialized again."""
    try:
        found = orjson.loads(data)
        if len(data) > 2 * MAX_LEVELS and _may_be_deep(data):
            _check_writable(found)
    except (ValueError, TypeError):
        return _read_in_part(data if isinstance(data, str) else bytes(data).decode())
    return found


def read_exactly(data: bytes | str) -> Any:
    """Return the value of JSON text from PostgreSQL, with integers of any size."""
    text = data if isinstance(data, str) else bytes(data).decode()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _read_in_part(text)
    return _read_in_part(text) if _may_be_deep(text) and _levels(text) > MAX_LEVELS else found


def _may_be_deep(data: bytes | str) -> bool:
    if isinstance(data, str):
        return data.count("[") + data.count("{") > MAX_LEVELS
    return data.count(b"[") + data.count(b"{") > MAX_LEVELS


def _check_writable(value: Any) -> None:
    """Raise TypeError if a value is nested too deeply to be serialized inside a response."""
    for _ in range(_MARGIN):
        value = [value]
    orjson.dumps(value)


def _levels(text: str) -> int:
    level = most = 0
    for token in _TOKEN.finditer(text):
        if token.lastindex == _OPENS:
            level += 1
            most = max(most, level)
        elif token.lastindex == _CLOSES:
            level -= 1
    return most


def _read_in_part(text: str) -> Any:
    """Return the value of JSON text, with text for values that are too deep or too large.

    An object is returned as PartlyRead, and invalid JSON as Unreadable.
    """
    try:
        return _parsed(text)
    except (ValueError, IndexError):
        return Unreadable(text)


def _parsed(text: str) -> Any:
    """Parse JSON without recursion."""
    whole: list[Any] = []
    within: list[list[Any] | dict[str, Any]] = [whole]
    keys: list[str | None] = [None]  # of the innermost objects, once read
    below, begun = 0, 0  # levels below those that are read, and their start
    for token in _TOKEN.finditer(text):
        kind = token.lastindex
        if below:
            below += (kind == _OPENS) - (kind == _CLOSES)
            if below == 0:
                _put(within[-1], keys, Unreadable(text[begun : token.end()]))
        elif kind == _OPENS:
            if len(within) > MAX_LEVELS:
                below, begun = 1, token.start(_OPENS)
                continue
            inner: list[Any] | dict[str, Any] = [] if token[_OPENS] == "[" else {}
            if len(within) == 1 and isinstance(inner, dict):
                inner = PartlyRead()
            _put(within[-1], keys, inner)
            within.append(inner)
            keys.append(None)
        elif kind == _CLOSES:
            within.pop()
            keys.pop()
        elif kind == _STRING:
            _put(within[-1], keys, orjson.loads(token[_STRING]))
        elif kind == _BARE:
            _put(within[-1], keys, _bare(token[_BARE]))
    return whole[0] if len(whole) == 1 else Unreadable(text)


def _put(container: list[Any] | dict[str, Any], keys: list[str | None], value: Any) -> None:
    if isinstance(container, list):
        container.append(value)
    elif keys[-1] is None:
        keys[-1] = value
    else:
        container[keys[-1]] = value
        keys[-1] = None


def _bare(word: str) -> Any:
    """Return a number, true, false or null."""
    try:
        return orjson.loads(word)
    except ValueError:
        return Unreadable(word)
