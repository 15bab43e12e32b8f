"""The output of a template: constant text, and values, which are escaped for their places.

A value is a tuple of one. A captured part of a template, such as the output of a macro, is text in
which values are marked: their places are known only where the part is written.
"""

import re
from collections.abc import Iterable, Sequence
from html import unescape

from markupsafe import Markup, escape

from mailqueue.rendering.contexts.links import after_usual
from mailqueue.rendering.contexts.places import Place
from mailqueue.rendering.contexts.values import units_of, written
from mailqueue.rendering.faults import Exceeded
from mailqueue.rendering.meter import Meter

Chunk = str | tuple[str]
"""Constant text of a template, or a value."""

# Noncharacters of Unicode, which no value keeps: https://www.unicode.org/faq/private_use.html
START, JSON, END = "\ufdd0", "\ufdd1", "\ufdd2"
_MARKS = {ord(mark): None for mark in (START, JSON, END)}
_ANY_MARK = re.compile(f"[{START}{JSON}{END}]")
_VALUE = re.compile(f"{START}({JSON}?)([^{START}{JSON}{END}]*){END}")
_MAX_KEPT = 4 * 1024 * 1024
"""Most characters of a template whose places a writer remembers."""
_MAX_PLACES = 1000
_MAX_PARTS, _MAX_PART = 2000, 500
"""Most texts between values of captured parts that a writer keeps, and most characters of one."""
READING = 1_000_000
"""Most units of work for reading the constant parts of a template in all places where they stand;
it is done once in a process, and takes less than half a second.
"""
_CHARACTERS_A_UNIT = 5  # as a shift


class Escaped(Markup):
    """A value that is escaped as text; at its place it is escaped for that."""

    __slots__ = ()


class Json(str):
    """A value as JSON, in which no character has a meaning in text of HTML."""

    __slots__ = ()


def placed(value: str) -> str:
    """Return a value of an expression, marked unless it is HTML."""
    kind = type(value)
    if kind is str:
        if not value:
            return value
        if not value.isascii():
            value = value.translate(_MARKS)
        return "".join((START, escape(value), END))
    if kind is Escaped:
        return "".join((START, value.translate(_MARKS), END))
    if kind is Json:
        return "".join((START, JSON, value.translate(_MARKS), END))
    return value


def captured(chunks: Iterable[Chunk]) -> str:
    """Return output as text in which values are marked."""
    return "".join([placed(one[0]) if isinstance(one, tuple) else one for one in chunks])


def joined(texts: Sequence[str]) -> str:
    """Return texts joined: HTML if one of them is, in which the others are values."""
    if any(isinstance(one, Markup | Json) for one in texts):
        return Markup("".join(map(placed, texts)))  # noqa: S704  values in it are escaped
    return "".join(texts)


def unmarked(value: str) -> str:
    """Return text as it is compared and measured: without the marks of values in it."""
    if type(value) is Markup and START in value:
        return Markup(value.translate(_MARKS))  # noqa: S704  values in it are escaped
    return value


def mended(value: str) -> str:
    """Return a part of marked text in which each value has both of its marks."""
    if value.isascii():
        return value
    marks = _ANY_MARK.findall(value)
    if not marks:
        return value
    before = START if marks[0] != START else ""
    after = END if marks[-1] != END else ""
    return Markup(f"{before}{value}{after}")  # noqa: S704  values in it are escaped


def turned(value: str) -> str:
    """Return marked text whose characters are in another order, as one value."""
    if _ANY_MARK.search(value) is None:
        return value
    return Markup(f"{START}{value.translate(_MARKS)}{END}")  # noqa: S704  values in it are escaped


class ReadingLimit:
    """Counts the work of reading the constant parts of one template, and raises Exceeded above the
    limit.
    """

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = READING

    def charge(self, units: int) -> None:
        """Charge units of work, before they are done."""
        self.left -= units
        if self.left < 0:
            raise Exceeded(f"reading its HTML takes more than {READING} units of work")


class Writer:
    """Writes the output of one template; it remembers the places behind its constant parts."""

    __slots__ = ("_known", "_meter", "_parts", "_reading", "_room", "_start")

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._parts = _MAX_PARTS
        self._reading = ReadingLimit()
        self._start = Place()
        self._start.keep()
        self._known: dict[Place, Place] = {self._start: self._start}
        self._room = _MAX_KEPT

    def write(self, chunks: Iterable[Chunk]) -> str:
        """Return the output, each value escaped for its place.

        Raises:
            Exceeded: it takes more work than an email may.
        """
        meter = self._meter
        place = self._start
        made: list[str] = []
        for chunk in chunks:
            if isinstance(chunk, tuple):
                value = chunk[0]
                meter.escape(1 + (len(value) >> _CHARACTERS_A_UNIT))
                if type(value) is str and place.is_text:
                    made.append(escape(value))
                    continue
                if type(value) is str and place.is_link:
                    link = after_usual(value)
                    if link is not None:
                        made.append(escape(value))
                        place = place.with_link(link)
                        continue
                if not isinstance(value, Markup) or type(value) is Escaped:
                    text, place = self._written(place, value)
                    made.append(text)
                    continue
                chunk = value  # HTML, as other text
            found = place.after.get(chunk)
            if found is not None:
                place, text, units = found
                meter.escape(units)
                made.append(text)
            elif START in chunk:
                place = self._write_captured(place, chunk, made)
            else:
                place, text = self._read_chunk(place, chunk)
                made.append(text)
        return "".join(made)

    def _write_captured(self, place: Place, chunk: str, made: list[str]) -> Place:
        at = 0
        for value in _VALUE.finditer(chunk):
            if value.start() > at:
                place, text = self._read_part(place, _cleared(chunk[at : value.start()]))
                made.append(text)
            at = value.end()
            is_json = value[1] != ""
            self._meter.escape(units_of(place, value[2], is_json=is_json))
            if place.is_text and not is_json:
                made.append(value[2])
                continue
            text, place = written(place, unescape(value[2]), is_json=is_json)
            made.append(text)
        if at < len(chunk):
            place, text = self._read_part(place, _cleared(chunk[at:]))
            made.append(text)
        return place

    def _read_chunk(self, place: Place, chunk: str) -> tuple[Place, str]:
        """Read a chunk that is not known yet; a constant of the template is charged once."""
        if type(chunk) is not str or not place.is_kept or len(chunk) > self._room:
            return self._read(place, chunk)
        units = 1 + (len(chunk) >> _CHARACTERS_A_UNIT)
        self._meter.escape(units)
        after, text = place.read(chunk, self._reading.charge)
        after = self._same(after)
        self._room -= len(chunk)
        place.after[chunk] = (after, text, units)
        return after, text

    def _read_part(self, place: Place, part: str) -> tuple[Place, str]:
        """Read the text between two values of a captured part, such as the rows of a macro."""
        found = place.after.get(part)
        if found is not None:
            after, text, units = found
            self._meter.escape(units)
            return after, text
        after, text = self._read(place, part)
        if place.is_kept and len(part) <= _MAX_PART and self._parts > 0:
            self._parts -= 1
            place.after[part] = (after, text, 1 + (len(part) >> _CHARACTERS_A_UNIT))
        return after, text

    def _read(self, place: Place, text: str) -> tuple[Place, str]:
        after, text = place.read(text, self._meter.escape)
        return self._same(after), text

    def _written(self, place: Place, value: str) -> tuple[str, Place]:
        is_json = type(value) is Json
        self._meter.escape(units_of(place, value, is_json=is_json))
        if type(value) is Escaped:
            return written(place, unescape(value))
        return written(place, value, is_json=is_json)

    def _same(self, place: Place) -> Place:
        """Return the known place that equals this one, unless a value is part of it."""
        if place.is_kept or place.link.is_given or len(self._known) >= _MAX_PLACES:
            return place
        place.keep()
        return self._known.setdefault(place, place)


def _cleared(text: str) -> str:
    return text.translate(_MARKS) if _ANY_MARK.search(text) else text


def is_plain_at_all(pieces: Iterable[str | None]) -> bool:
    """Return whether all values of a template stand where text is escaped; None is a value."""
    place, reading = Place(), ReadingLimit()
    for piece in pieces:
        if piece is not None:
            place, _ = place.read(piece, reading.charge)
        elif not place.is_text:
            return False
    return True
