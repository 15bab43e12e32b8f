"""Writes arrays as PostgreSQL reads them, for statements that carry many rows. Pure.

The driver looks at every element to find its type and its dumper: ten times the cost. Statements
name the type: `%(ids)s::uuid[]`.
"""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

NULL = "NULL"


def uuids(values: Iterable[UUID]) -> str:
    """Write a uuid[]."""
    return "{" + ",".join([value.hex for value in values]) + "}"


def integers(values: Iterable[int | None]) -> str:
    """Write an array of whole numbers."""
    return "{" + ",".join([NULL if value is None else str(value) for value in values]) + "}"


def booleans(values: Iterable[bool]) -> str:
    """Write a boolean[]."""
    return "{" + ",".join(["t" if value else "f" for value in values]) + "}"


def intervals(values: Iterable[timedelta | None]) -> str:
    """Write an interval[]."""
    return "{" + ",".join([NULL if value is None else _interval(value) for value in values]) + "}"


def texts(values: Iterable[str | None]) -> str:
    """Write a text[]; each element comes back as it is."""
    return "{" + ",".join([NULL if value is None else _quoted(value) for value in values]) + "}"


def _quoted(text: str) -> str:
    if "\\" in text or '"' in text:
        text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _interval(value: timedelta) -> str:
    # In parts, as floats would round.
    return f"{value.days}d {value.seconds}s {value.microseconds}us"
