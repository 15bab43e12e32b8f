"""Reads PostgreSQL values that Python's types cannot represent, so that every row can be read.

A timestamp or date beyond Python's range becomes the nearest that is valid in any time zone:
infinity is read as 9999-12-31, and 24:00 as the last microsecond of the day.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, TypeVar

from psycopg import AsyncCursor, DataError
from psycopg.adapt import Transformer
from psycopg.postgres import types
from psycopg.pq import Format

from mailqueue.core.json.reading import Unreadable

FIRST, LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)

T = TypeVar("T")


def read_rows(cursor: AsyncCursor[Any], make: Callable[[Sequence[Any]], T]) -> list[T]:
    """Return the rows of a result; a column that cannot be read has its nearest value."""
    result = cursor.pgresult
    assert result is not None
    tx = Transformer(cursor)
    columns = [
        (n, result.ftype(n), tx.get_loader(result.ftype(n), Format(result.fformat(n))).load)
        for n in range(result.nfields)
    ]
    return [
        make(tuple([_value(load, oid, result.get_value(row, n)) for n, oid, load in columns]))
        for row in range(result.ntuples)
    ]


def _value(load: Callable[[bytes], Any], oid: int, data: bytes | None) -> Any:
    if data is None:
        return None
    try:
        return load(data)
    except (DataError, ValueError, ArithmeticError):
        text = bytes(data).decode(errors="replace")
        nearest = _NEAREST.get(oid)
        return Unreadable(text) if nearest is None else nearest(text)


def _instant(text: str) -> datetime:
    return FIRST if _is_early(text) else LAST


def _day(text: str) -> date:
    return _instant(text).date()


def _span(text: str) -> timedelta:
    return timedelta.min if text.startswith("-") else timedelta.max


def _is_early(text: str) -> bool:
    return text.startswith(("-", "0")) or text.endswith("BC")


_NEAREST: Mapping[int, Callable[[str], Any]] = {
    types["timestamptz"].oid: _instant,
    types["timestamp"].oid: lambda text: _instant(text).replace(tzinfo=None),
    types["date"].oid: _day,
    types["time"].oid: lambda _: time.max,
    types["interval"].oid: _span,
}
