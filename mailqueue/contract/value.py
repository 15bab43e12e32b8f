"""The base of every value that callers see."""

from dataclasses import fields
from typing import Any, ClassVar


class Value:
    """A value that the API answers, the client returns and the command line prints.

    The text below a field is its description in the API's documents.
    """

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, bool]] = {"use_attribute_docstrings": True}


def named(value: Value) -> dict[str, Any]:
    """Return the fields of a value by name, for a value that has them and further ones. Pure."""
    return {each.name: getattr(value, each.name) for each in fields(value)}  # type: ignore[arg-type]
