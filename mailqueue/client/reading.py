"""Parse the JSON of responses into values. Pure."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints
from uuid import UUID

from mailqueue.contract.page import Page


def read(kind: Any, document: Any) -> Any:
    """Return a JSON value as `kind`: a response type, or the type of one of its fields.

    Unknown fields are ignored, because the server may be newer.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: the value has another form.
    """
    if kind is Any:
        return document
    origin = get_origin(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        kinds = _kinds(kind)
        return kind(
            **{name: read(kinds[name], document[name]) for name in kinds if name in document}
        )
    if origin is Page:
        (of,) = get_args(kind)
        return Page(tuple(read(of, one) for one in document["data"]), document["next_cursor"])
    if origin is UnionType:
        (only,) = (each for each in get_args(kind) if each is not NoneType)
        return None if document is None else read(only, document)
    if origin in (tuple, Sequence):
        if not isinstance(document, list):
            raise TypeError(f"expected a list, got {type(document).__name__}")
        return tuple(read(get_args(kind)[0], one) for one in document)
    if kind is UUID:
        return UUID(document)
    if kind is datetime:
        return datetime.fromisoformat(document)
    if kind is date:
        return date.fromisoformat(document)
    if isinstance(kind, type) and issubclass(kind, StrEnum) and isinstance(document, str):
        return kind(document) if document in {*kind} else document  # a newer server's word
    if isinstance(kind, type) and not isinstance(document, kind):
        raise TypeError(f"expected {kind.__name__}, got {type(document).__name__}")
    return document


@cache
def _kinds(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
