"""Reads the properties of any message, as far as they can be read. Pure.

pamqp decodes them too, but ends the connection where one is wrong. The broker passes on what
clients wrote, so this reader takes everything, and names what is wrong.
https://www.rabbitmq.com/amqp-0-9-1-errata
"""

import re
import struct
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from pamqp.commands import Basic

MAX_LEVELS = 100
"""Nested tables and lists of a header."""
_NUMBERS = {
    b"t": ">?",
    b"b": ">b",
    b"B": ">B",
    b"s": ">h",
    b"u": ">H",
    b"I": ">i",
    b"i": ">I",
    b"l": ">q",
    b"L": ">q",
    b"f": ">f",
    b"d": ">d",
}
_DELIVERY_MODES = (0, 1, 2)
_MILLISECONDS = re.compile(r"[0-9]{1,15}")
_MAX_SECONDS = 0xFFFFFFFF
"""A larger timestamp is in milliseconds, as pamqp reads it."""


class ReadProperties(NamedTuple):
    """Properties by their names of pamqp, and what is wrong with them."""

    values: dict[str, Any]
    problems: list[str]


def read_properties(data: bytes) -> ReadProperties:
    """Return the properties of a content header, which begin with their flags."""
    reader = _FieldReader(data)
    values: dict[str, Any] = {}
    try:
        flags = word = reader.number(">H")
        while word & 1:  # no property has a flag in a further word
            reader.note("flags: one word is needed")
            word = reader.number(">H")
        for name in Basic.Properties.attributes():
            if flags & Basic.Properties.flags[name]:
                reader.name = name
                values[name] = reader.property(Basic.Properties.amqp_type(name))
    except _Cut:
        reader.note("cut short")
    if values.get("delivery_mode", 1) not in _DELIVERY_MODES:
        reader.problems.append(f"delivery_mode: 1 or 2 is needed, got {values['delivery_mode']}")
        del values["delivery_mode"]
    if not _MILLISECONDS.fullmatch(values.get("expiration", "1")):
        reader.problems.append("expiration: milliseconds are needed")
        del values["expiration"]
    return ReadProperties(
        {name: value for name, value in values.items() if value is not None}, reader.problems
    )


class _Cut(Exception):
    """The data ends within a value."""


class _Unknown(Exception):
    """A value has a type that is none: where it ends is not known."""


class _FieldReader:
    """A place in data. Mutable."""

    def __init__(self, data: bytes) -> None:
        self.name = "properties"
        self.problems: list[str] = []
        self._data = data
        self._at = 0
        self._end = len(data)

    def note(self, problem: str) -> None:
        """Note what is wrong with the property that is being read, once."""
        said = f"{self.name}: {problem}"
        if said not in self.problems:
            self.problems.append(said)

    def property(self, kind: str) -> Any:
        """Return a property of a type of the specification."""
        if kind == "table":
            return self._table(1)
        if kind == "timestamp":
            return self._timestamp()
        return self.number(">B") if kind == "octet" else self._name()

    def number(self, form: str) -> Any:
        """Return a number."""
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _take(self, size: int) -> bytes:
        if self._at + size > self._end:
            raise _Cut
        self._at += size
        return self._data[self._at - size : self._at]

    def _name(self) -> str:
        given = self._take(self.number(">B"))
        try:
            return given.decode()
        except UnicodeDecodeError:
            self.note("not UTF-8")
            return given.decode(errors="replace").encode()[:255].decode(errors="ignore")

    def _timestamp(self) -> datetime | None:
        given = self.number(">Q")
        try:
            return datetime.fromtimestamp(given if given <= _MAX_SECONDS else given / 1000, tz=UTC)
        except (ValueError, OverflowError, OSError):
            self.note(f"no time: {given}")
            return None

    def _table(self, level: int) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def read() -> None:
            name = self._name()
            found[name] = self._value(level)

        self._each(read)
        return found

    def _list(self, level: int) -> list[Any]:
        found: list[Any] = []
        self._each(lambda: found.append(self._value(level)))
        return found

    def _each(self, read: Any) -> None:
        """Call `read` until a table or list ends; go on behind it whatever is in it."""
        size = self.number(">I")
        end, outer = self._at + size, self._end
        if end > outer:
            raise _Cut
        self._end = end
        try:
            while self._at < end:
                read()
        except _Cut:
            self.note("cut short")
        except _Unknown as exc:
            self.note(f"unknown type of value {exc}")
        finally:
            self._at, self._end = end, outer

    def _value(self, level: int) -> Any:
        kind = self._take(1)
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        match kind:
            case b"S" | b"x":
                return self._bytes_or_text()
            case b"D":
                places = self.number(">B")
                return Decimal(self.number(">i")).scaleb(-places)
            case b"T":
                return self._timestamp()
            case b"V" | b"\0":
                return None
            case b"F" | b"A" if level >= MAX_LEVELS:
                self.note(f"nested more than {MAX_LEVELS} levels")
                self._take(self.number(">I"))
                return None
            case b"F":
                return self._table(level + 1)
            case b"A":
                return self._list(level + 1)
        raise _Unknown(repr(kind))

    def _bytes_or_text(self) -> str | bytearray:
        given = self._take(self.number(">I"))
        try:
            return given.decode()
        except UnicodeDecodeError:
            return bytearray(given)
