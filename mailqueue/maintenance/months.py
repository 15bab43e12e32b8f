"""Bounds of months in UTC, as partitions use them. Pure."""

from dataclasses import dataclass
from datetime import UTC, date, datetime


@dataclass(frozen=True, slots=True)
class Period:
    """The time from `since` up to, not including, `until`."""

    since: datetime
    until: datetime


def month_of(month: date) -> Period:
    """Return the month that contains a day."""
    first = month.replace(day=1)
    return Period(_midnight(first), _midnight(next_month(first)))


def next_month(day: date) -> date:
    """Return the first day of the next month."""
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
