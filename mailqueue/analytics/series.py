"""A count over time, of all or by the values of a dimension, and by hour of the week."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from mailqueue.analytics import store
from mailqueue.analytics.model import Starts, StatsScope, TimeSpan
from mailqueue.analytics.spans import whole
from mailqueue.contract.analytics import (
    AnalyticsHeatmap,
    AnalyticsTimeseries,
    Bucket,
    Dimension,
    HeatmapCell,
    Series,
    SeriesPoint,
)
from mailqueue.contract.counts import METRICS
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn

MAX_SERIES = 20
"""Values with a series of their own; the others share one."""


async def timeseries(
    conn: Conn,
    scope: StatsScope,
    span: TimeSpan,
    *,
    metric: str,
    bucket: Bucket,
    group_by: Dimension | None = None,
    compares: bool = False,
) -> AnalyticsTimeseries:
    """Return a count in each span of a time, and in each of the time before.

    Raises:
        InvalidField: there is no such count, or there are too many spans.
    """
    _check(metric)
    if group_by is not None and scope.dimension is not None:
        raise InvalidField("group_by", "leave out the filter: counts are of one dimension")
    as_of = await store.as_of(conn)
    starts = await whole(conn, span, bucket)
    before: Starts = ()
    if compares:
        time = TimeSpan(starts[0].started_at, starts[-1].started_at, span.time_zone)
        before = await whole(conn, time.before, bucket)
    return AnalyticsTimeseries(
        as_of=as_of,
        metric=metric,
        bucket=bucket,
        time_zone=span.time_zone,
        since=starts[0].started_at,
        until=starts[-1].started_at,
        group_by=group_by,
        series=await _series(conn, scope, starts, metric, bucket, group_by),
        previous=await _series(conn, scope, before, metric, bucket, group_by) if before else (),
    )


async def heatmap(
    conn: Conn, scope: StatsScope, span: TimeSpan, *, metric: str
) -> AnalyticsHeatmap:
    """Return a count by hour of the day and day of the week.

    Raises:
        InvalidField: there is no such count, or the time is too long.
    """
    _check(metric)
    as_of = await store.as_of(conn)
    starts = await whole(conn, span, Bucket.HOUR)
    cells = dict.fromkeys(((day, hour) for day in range(1, 8) for hour in range(24)), 0)
    for row in await store.read_scope(conn, scope, starts):
        local = starts[row.n - 1].local_at
        cells[local.isoweekday(), local.hour] += getattr(row, metric)
    return AnalyticsHeatmap(
        as_of=as_of,
        metric=metric,
        time_zone=span.time_zone,
        since=starts[0].started_at,
        until=starts[-1].started_at,
        cells=[HeatmapCell(day, hour, value) for (day, hour), value in cells.items()],
    )


def _check(metric: str) -> None:
    if metric not in METRICS:
        raise InvalidField("metric", f"must be one of {', '.join(METRICS)}")


async def _series(
    conn: Conn,
    scope: StatsScope,
    starts: Starts,
    metric: str,
    bucket: Bucket,
    group_by: Dimension | None,
) -> list[Series]:
    by_minute = bucket is Bucket.MINUTE
    if group_by is None:
        rows = await store.read_scope(conn, scope, starts, by_minute=by_minute)
        return [_one(starts, ((row.n, getattr(row, metric)) for row in rows))]
    by_value = defaultdict[str | None, list[tuple[int, int]]](list)
    for row in await store.read_series(
        conn,
        scope,
        group_by.value,
        [one.started_at for one in starts],
        metric=metric,
        most=MAX_SERIES,
        by_minute=by_minute,
    ):
        by_value[row.value].append((row.n, row.total))
    others = by_value.pop(None, [])
    named = {value: counts for value, counts in by_value.items() if value is not None}
    names = await names_of(conn, group_by, list(named), scope.project_id)
    found = [
        _one(starts, counts, value=value, name=names.get(value)) for value, counts in named.items()
    ]
    found.sort(key=lambda one: (-one.total, one.value or ""))
    return [*found, _one(starts, others, is_other=True)] if others else found


def _one(
    starts: Starts,
    found: Iterable[tuple[int, int]],
    *,
    value: str | None = None,
    name: str | None = None,
    is_other: bool = False,
) -> Series:
    """Return the series of some counts, each with the number of its span. Pure."""
    counts = [0] * (len(starts) - 1)
    for number, count in found:
        counts[number - 1] += count
    points = [
        SeriesPoint(start.started_at, start.local_at.isoformat(), count)
        for start, count in zip(starts, counts, strict=False)
    ]
    return Series(value, name, is_other, sum(counts), points)


async def names_of(
    conn: Conn, dimension: Dimension, values: Sequence[str], project_id: UUID | None
) -> Mapping[str, str]:
    """Return what people call values that are ids."""
    if dimension is Dimension.TEMPLATE:
        found = await store.template_names(conn, [UUID(value) for value in values])
        return {str(one.id): one.slug for one in found}
    if dimension is Dimension.VARIANT:
        parts = {value: value.partition("/") for value in values}
        names = await store.test_names(conn, [UUID(test) for test, _, _ in parts.values()])
        return {
            value: f"{names[test]}: {variant}"
            for value, (test, _, variant) in parts.items()
            if test in names
        }
    if dimension is Dimension.ACCOUNT:
        accounts = await store.accounts(conn, project_id)
        return {str(one.sender_account_id): one.name for one in accounts}
    return {}
