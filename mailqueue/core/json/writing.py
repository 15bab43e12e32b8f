"""Writes JSON, without failing on values that were accepted or read. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import orjson

MAX_LEVELS = 250
"""Nested objects and lists in a document; orjson writes 254."""
TOO_DEEP = "(nested too deeply)"
_SURROGATE = re.compile("[\ud800-\udfff]")
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**64 - 1
_LEAVES = (type(None), bool, float, date, time, UUID, Enum, orjson.Fragment)

Default = Callable[[Any], Any]


def write_json(document: object, *, default: Default | None = None, option: int = 0) -> bytes:
    """Return a value as JSON, by default in one line; `default` replaces values of other types.

    Integers of any size keep their digits, characters that are not Unicode become U+FFFD, and NaN
    and infinity null. Values below MAX_LEVELS are replaced by a text.

    Raises:
        TypeError: a value has a type that is not JSON, which `default` does not replace.
    """
    try:
        return orjson.dumps(document, default=default, option=option)
    except TypeError:
        return orjson.dumps(_writable(document, default, option, 1), option=option)


def _writable(value: Any, default: Default | None, option: int, level: int) -> Any:
    """Return a value with what orjson refuses replaced."""
    if level > MAX_LEVELS:
        return TOO_DEEP
    match value:
        case str():
            return _unicode(value)
        case bool():
            return value
        case int() if not isinstance(value, Enum):
            return value if _MIN_INTEGER <= value <= _MAX_INTEGER else _digits(value)
        case Mapping():
            return {
                _unicode(str(name)): _writable(item, default, option, level + 1)
                for name, item in value.items()
            }
        case list() | tuple() if not hasattr(value, "_fields"):
            return [_writable(item, default, option, level + 1) for item in value]
        case _ if isinstance(value, _LEAVES):
            return value
    if is_dataclass(value) and not option & orjson.OPT_PASSTHROUGH_DATACLASS:
        names = [one.name for one in fields(value) if not one.name.startswith("_")]
        items = {name: getattr(value, name) for name in names}
        return _writable(items, default, option, level)
    if default is None:
        raise TypeError(f"no JSON for {type(value).__name__}")
    return _writable(default(value), default, option, level)


def _unicode(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


def _digits(number: int) -> orjson.Fragment:
    """Return the digits of an integer; the Decimal has no limit of digits as `str` has."""
    return orjson.Fragment(format(Decimal(number), "f").encode())
