"""Encodes arrays as text for statements with many rows. Pure.

The driver determines type and dumper of every element, at ten times the cost. Statements cast:
`%(ids)s::uuid[]`.
"""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from mailqueue.core.json.writing import write_json

NULL = "NULL"


def uuids(values: Iterable[UUID]) -> str:
    """Return a uuid[] as text."""
    return "{" + ",".join([value.hex for value in values]) + "}"


def integers(values: Iterable[int | None]) -> str:
    """Return an array of integers as text."""
    return "{" + ",".join([NULL if value is None else str(value) for value in values]) + "}"


def booleans(values: Iterable[bool]) -> str:
    """Return a boolean[] as text."""
    return "{" + ",".join(["t" if value else "f" for value in values]) + "}"


def intervals(values: Iterable[timedelta | None]) -> str:
    """Return an interval[] as text."""
    return "{" + ",".join([NULL if value is None else _interval(value) for value in values]) + "}"


def texts(values: Iterable[str | None]) -> str:
    """Return a text[] as text; elements are quoted and escaped."""
    return "{" + ",".join([NULL if value is None else _quoted(value) for value in values]) + "}"


def documents(values: Iterable[object]) -> str:
    """Return a jsonb array as text; PostgreSQL parses a jsonb[] eight times as slowly."""
    return "[" + ",".join([write_json(value).decode() for value in values]) + "]"


def _quoted(text: str) -> str:
    if "\\" in text or '"' in text:
        text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _interval(value: timedelta) -> str:
    # In days, seconds and microseconds, as floats would round.
    return f"{value.days}d {value.seconds}s {value.microseconds}us"
