"""Parse a JSON array, or JSON lines, element by element, without holding all of it. Pure."""

import json
from collections.abc import Iterator
from typing import TextIO

from mailqueue.core.errors import InvalidField

MAX_ELEMENT_CHARACTERS = 64 * 1024
"""Longest element, in characters."""
_SPACE = " \t\r\n"


def elements(start: str, text: TextIO) -> Iterator[tuple[int, object]]:
    """Yield the elements with their numbers from 1; `start` is the part of the text already read.

    Raises:
        InvalidField: field `file`; it is not valid JSON, or one element is too long.
    """
    source = _Source(start, text)
    is_array = source.next() == "["
    if is_array:
        source.skip()
    number = 0
    while (char := source.next()) and not (is_array and char == "]"):
        if is_array and number:
            if char != ",":
                raise InvalidField("file", f"there is no comma after element {number}")
            source.skip()
        number += 1
        yield number, source.element(number)
    if is_array:
        if not char:
            raise InvalidField("file", f"the array has no end after element {number}")
        source.skip()
        if source.next():
            raise InvalidField("file", "there is text after the array")


class _Source:
    """A text stream with a buffer and a position."""

    def __init__(self, start: str, text: TextIO) -> None:
        self._buffer, self._at, self._text = start, 0, text
        self._decoder = json.JSONDecoder()

    def next(self) -> str:
        """Return the next character that is not white space; "" at the end."""
        while True:
            while self._at < len(self._buffer) and self._buffer[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._fill():
                return ""

    def skip(self) -> None:
        self._at += 1

    def element(self, number: int) -> object:
        """Parse one element, reading as much of the text as it needs."""
        self.next()
        while True:
            try:
                element, end = self._decoder.raw_decode(self._buffer, self._at)
            except (ValueError, RecursionError):  # also a number of thousands of digits
                if len(self._buffer) - self._at > MAX_ELEMENT_CHARACTERS or not self._fill():
                    raise InvalidField("file", f"element {number} is not valid JSON") from None
                continue
            if end - self._at > MAX_ELEMENT_CHARACTERS:
                raise InvalidField("file", f"element {number} is too long")
            self._at = end
            return element

    def _fill(self) -> bool:
        """Read more of the text; return whether there was more."""
        more = self._text.read(MAX_ELEMENT_CHARACTERS)
        self._buffer, self._at = self._buffer[self._at :] + more, 0
        return bool(more)
