"""Values by name as lines of a form, `name = value`. Pure.

A value is JSON where it can be read as such, else text; a text that would be read as something
else is written as a JSON string, and so is a name that a line could not begin with.
"""

import json
from collections.abc import Mapping
from typing import Any

import orjson

from mailqueue.core.errors import InvalidField
from mailqueue.core.json.writing import write_json


def lines_of(values: Mapping[str, Any]) -> str:
    """Return values as lines, in their order."""
    return "\n".join(f"{_name(name)} = {_written(value)}" for name, value in values.items())


def values_of(text: str, field: str, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the values of lines; one that is as in `before` is the same value.

    Raises:
        InvalidField: a line of `field` has no name or no `=`, or a name stands twice.
    """
    written = {name: _written(value) for name, value in (before or {}).items()}
    found: dict[str, Any] = {}
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if not line.strip():
            continue
        name, value = _split(line.strip(), field, number)
        if name in found:
            raise InvalidField(field, f"line {number}: {name[:100]} stands twice")
        if before is not None and written.get(name) == value:
            found[name] = before[name]
        else:
            found[name] = _read(value)
    return found


def _name(name: str) -> str:
    is_plain = name == name.strip() and name and not name.startswith('"')
    return name if is_plain and not {"=", "\n", "\r"} & set(name) else _string(name)


def _written(value: Any) -> str:
    if not isinstance(value, str):
        return write_json(value).decode()
    is_plain = value == value.strip() and value and not {"\n", "\r"} & set(value)
    return value if is_plain and _is_text(value) else _string(value)


def _is_text(value: str) -> bool:
    """Return whether a value is read as the text that it is."""
    return _read(value) is value


def _read(value: str) -> Any:
    try:
        return orjson.loads(value)
    except ValueError:
        return value


def _split(line: str, field: str, number: int) -> tuple[str, str]:
    wrong = InvalidField(field, f"line {number} must be a name, = and a value")
    if not line.startswith('"'):
        name, sign, value = line.partition("=")
        if not sign or not name.strip():
            raise wrong
        return name.strip(), value.strip()
    try:
        name, end = json.JSONDecoder().raw_decode(line)
    except ValueError:
        raise wrong from None
    rest = line[end:].lstrip()
    if not rest.startswith("="):
        raise wrong
    return str(name), rest[1:].strip()


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
