"""Counts as a page shows them: points of a chart, rows of rates, shades of a table. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mailqueue.contract.analytics import (
    AnalyticsHeatmap,
    AnalyticsOverview,
    AnalyticsTimeseries,
    Series,
)
from mailqueue.contract.counts import METRICS, CountRate, CountRates

MAX_LINES = 6
"""Lines of one chart: more cannot be told apart. The table below it has all."""
SHADES = 5
"""Shades of a table, from 1; 0 is none."""
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
RATES = {
    "delivery": "Delivered",
    "hard_bounce": "Hard bounces",
    "soft_bounce": "Soft bounces",
    "complaint": "Complaints",
    "open": "Opened by people",
    "click": "Clicked in by people",
    "unsubscribe": "Unsubscribed",
    "failure": "Failed or expired",
}
"""Rates, as a page names them."""


@dataclass(frozen=True, slots=True)
class SeriesRow:
    """Counts of one span of a chart, by line; None: there is no such span."""

    at: datetime
    counts: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class RateRow:
    """A rate now and, if it is compared, of the time before."""

    name: str
    now: CountRate
    before: CountRate | None


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A value that counts are grouped by, with its sum now and before."""

    name: str
    total: int
    before: int | None


@dataclass(frozen=True, slots=True)
class HourRow:
    """The counts of one hour of the day, by day of the week, each with its shade."""

    hour: int
    cells: tuple[tuple[int, int], ...]


def rates_of(answer: AnalyticsOverview) -> list[RateRow]:
    """Return the rates of an overview."""
    before = answer.previous
    return [
        RateRow(
            RATES[name],
            getattr(answer.current.rates, name),
            None if before is None else getattr(before.rates, name),
        )
        for name in CountRates.__dataclass_fields__
    ]


def counts_of(answer: AnalyticsOverview) -> list[GroupRow]:
    """Return the counts of an overview."""
    before = answer.previous
    return [
        GroupRow(
            words.capitalize(),
            getattr(answer.current.counts, name),
            None if before is None else getattr(before.counts, name),
        )
        for name, words in METRICS.items()
    ]


def lines_of(answer: AnalyticsTimeseries) -> list[tuple[str, str]]:
    """Return the name and class of each line of a chart."""
    if answer.group_by is None:
        names = [METRICS[answer.metric].capitalize()]
        return [(names[0], "hue1"), *([("The time before", "hue0")] if answer.previous else [])]
    return [(_name(one), f"hue{place}") for place, one in enumerate(_drawn(answer.series), start=1)]


def points_of(answer: AnalyticsTimeseries) -> list[SeriesRow]:
    """Return the points of a chart; the time before is drawn from the same begin."""
    drawn = _drawn(answer.series)
    if not drawn:
        return []
    values = [[point.value for point in one.points] for one in drawn]
    if answer.group_by is None and answer.previous:
        values.append([point.value for point in answer.previous[0].points])
    return [
        SeriesRow(point.at, tuple(line[place] if place < len(line) else None for line in values))
        for place, point in enumerate(drawn[0].points)
    ]


def groups_of(answer: AnalyticsTimeseries, *, compares: bool) -> list[GroupRow]:
    """Return the values that counts are grouped by, the highest first."""
    before = {(one.value, one.is_other): one.total for one in answer.previous}
    return [
        GroupRow(
            _name(one),
            one.total,
            before.get((one.value, one.is_other), 0) if compares else None,
        )
        for one in answer.series
    ]


def hours_of(answer: AnalyticsHeatmap) -> list[HourRow]:
    """Return a row for each hour of the day; the highest count has the darkest shade."""
    counts = {(cell.hour, cell.weekday): cell.value for cell in answer.cells}
    highest = max(counts.values(), default=0)
    return [
        HourRow(
            hour,
            tuple((counts[hour, day], shade_of(counts[hour, day], highest)) for day in range(1, 8)),
        )
        for hour in range(24)
    ]


def shade_of(count: int, highest: int) -> int:
    """Return the shade of a count: 0 of none, the darkest one of the highest."""
    return -(-count * SHADES // highest) if highest else 0


def change_of(now: int, before: int | None) -> str:
    """Return a change in percent with its sign; empty where it is not compared or was nothing."""
    return f"{_signed(100 * (now - before) / before, 0)} %" if before else ""


def points_between(now: CountRate, before: CountRate | None) -> str:
    """Return the difference of two rates in percentage points; empty where one is unknown."""
    if before is None or not (now.is_known and before.is_known):
        return ""
    if now.value is None or before.value is None:
        return ""
    return f"{_signed(100 * (now.value - before.value), 2)} points"


def percent(rate: CountRate) -> str:
    """Return a rate in percent; `unknown` where accounts do not report, a dash of nothing."""
    if not rate.is_known:
        return "unknown"
    return "–" if rate.value is None else f"{100 * rate.value:.2f} %"


def _signed(number: float, places: int) -> str:
    """Return a number with its sign; none of what is rounded to 0."""
    found = f"{number:+,.{places}f}"
    return found if round(number, places) else found[1:]


def _drawn(series: Sequence[Series]) -> list[Series]:
    return list(series[:MAX_LINES])


def _name(one: Series) -> str:
    return "all others" if one.is_other else one.name or one.value or "all"
