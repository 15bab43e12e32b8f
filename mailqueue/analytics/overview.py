"""Counts and rates of a time, and of the time before."""

from mailqueue.analytics import store
from mailqueue.analytics.model import SpanStart, StatsScope, TimeSpan
from mailqueue.analytics.rates import counts_of, rates_of
from mailqueue.analytics.reporting import reporting
from mailqueue.analytics.spans import quarters
from mailqueue.contract.analytics import AnalyticsOverview, CountsOfTime
from mailqueue.db.fetch import Conn


async def overview(
    conn: Conn, scope: StatsScope, span: TimeSpan, *, compares: bool = False
) -> AnalyticsOverview:
    """Return the counts and rates of a time in whole quarters of an hour."""
    span = quarters(span)
    as_of = await store.as_of(conn)
    return AnalyticsOverview(
        as_of=as_of,
        time_zone=span.time_zone,
        current=await _of(conn, scope, span),
        previous=await _of(conn, scope, span.before) if compares else None,
    )


async def _of(conn: Conn, scope: StatsScope, span: TimeSpan) -> CountsOfTime:
    ends = [span.since, span.until]
    starts = [SpanStart(at, at.replace(tzinfo=None)) for at in ends]
    counts = counts_of(await store.read_scope(conn, scope, starts))
    accounts = await reporting(conn, scope, ends)
    rates = rates_of(counts, reporting_sent=accounts.of_scope(scope, counts))
    return CountsOfTime(span.since, span.until, counts, rates)
