"""The base of every value that callers see."""

from typing import ClassVar


class Value:
    """A value that the API answers, the client returns and the command line prints.

    The text below a field is its description in the API's documents.
    """

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, bool]] = {"use_attribute_docstrings": True}
