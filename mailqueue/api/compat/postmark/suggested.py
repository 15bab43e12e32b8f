"""A model for texts in Mustachio: each name in them with a value to try. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

MAX_NAMES = 2_000
MAX_DEPTH = 50
# No two parts match the same characters: a text takes time in proportion to its length.
_TAG = re.compile(r"\{\{\{?([#^/&]?)([^{}]{1,200})\}?\}\}")
_PATH = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*")
_SCOPED = ("each ", "with ")


def suggested_model(texts: Iterable[str]) -> dict[str, Any]:
    """Return a model with the names of some texts: `name_Value`, objects, and lists of one item."""
    model: dict[str, Any] = {}
    names = 0
    for text in texts:
        scopes = [model]
        for found in _TAG.finditer(text):
            sign, inside = found[1], found[2].strip()
            names += 1
            if names > MAX_NAMES:
                return model
            if sign == "/":
                scopes = scopes[:-1] or [model]
            elif sign == "#":
                scopes.append(_opened(scopes[-1], inside, is_deep=len(scopes) > MAX_DEPTH))
            elif sign == "^":
                _put(scopes[-1], inside, _value(inside))
                scopes.append(scopes[-1])
            elif inside != "else":
                _put(scopes[-1], inside, _value(inside))
    return model


def _opened(scope: dict[str, Any], inside: str, *, is_deep: bool) -> dict[str, Any]:
    """Return the scope that a block opens; a condition opens none."""
    word = inside.partition(" ")[0]
    if word in ("if", "unless") or is_deep:
        _put(scope, inside.partition(" ")[2], _value(inside.partition(" ")[2]))
        return scope
    name = inside.partition(" ")[2] if inside.startswith(_SCOPED) else inside
    is_list = word == "each"
    opened: dict[str, Any] = {}
    found = _put(scope, name, [opened] if is_list else opened)
    if isinstance(found, list) and found and isinstance(found[0], dict):
        return found[0]
    return found if isinstance(found, dict) else opened


def _put(scope: dict[str, Any], path: str, value: Any) -> Any:
    """Add a value unless there is one; an object replaces a text. Return what is there."""
    if not _PATH.fullmatch(path) or path == "this":
        return None
    *parents, last = path.split(".")
    for name in parents:
        inner = scope.get(name)
        if not isinstance(inner, dict):
            scope[name] = inner = {}
        scope = inner
    known = scope.get(last)
    if known is None or (isinstance(known, str) and not isinstance(value, str)):
        scope[last] = value
    return scope[last]


def _value(path: str) -> str:
    return f"{path.rpartition('.')[2]}_Value"


def merged(suggested: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model with the given values, and suggested ones where none are given."""
    found = {**suggested, **given}
    for name, inner in suggested.items():
        own = given.get(name)
        if isinstance(inner, dict) and isinstance(own, dict):
            found[name] = merged(inner, own)
    return found
