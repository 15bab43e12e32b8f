"""Providers and sender accounts side by side."""

from collections.abc import Sequence
from datetime import datetime

from mailqueue.analytics import store
from mailqueue.analytics.model import CountsRow, StatsScope, TimeSpan
from mailqueue.analytics.rates import counts_of, rates_of
from mailqueue.analytics.reporting import Reporting, reporting
from mailqueue.analytics.spans import quarters
from mailqueue.contract.analytics import (
    AccountCounts,
    AnalyticsProviders,
    ProviderCounts,
    ResponseTimes,
)
from mailqueue.db.fetch import Conn

ACCOUNT = "account"

_UNKNOWN = ResponseTimes(0, None, None, None)


async def providers(conn: Conn, scope: StatsScope, span: TimeSpan) -> AnalyticsProviders:
    """Return providers and accounts with counts, rates and response times."""
    span = quarters(span)
    as_of = await store.as_of(conn)
    ends = [span.since, span.until]
    accounts = await reporting(conn, scope, ends)
    times = {
        str(one.sender_account_id): ResponseTimes(one.attempts, one.p50_ms, one.p95_ms, one.p99_ms)
        for one in await store.latency(conn, scope, span)
    }
    by_account = []
    for row in await _by_account(conn, scope, accounts, ends):
        known = accounts.by_id.get(row.value)
        if known is None:
            continue
        counts = counts_of([row])
        is_told = accounts.reports(row.value)
        rates = rates_of(counts, reporting_sent=counts.sent if is_told else 0)
        by_account.append(
            AccountCounts(
                account=known.name,
                provider=known.provider,
                reports_deliveries=is_told,
                counts=counts,
                rates=rates,
                response_times=times.get(row.value, _UNKNOWN),
            )
        )
    by_provider = []
    for row in await store.read(conn, scope, "provider", ends):
        counts = counts_of([row])
        rates = rates_of(counts, reporting_sent=accounts.of_provider(row.value, counts))
        by_provider.append(ProviderCounts(row.value, counts, rates))
    return AnalyticsProviders(
        as_of=as_of,
        since=span.since,
        until=span.until,
        providers=sorted(by_provider, key=lambda one: (-one.counts.sent, one.provider)),
        accounts=sorted(by_account, key=lambda one: (-one.counts.sent, one.account)),
    )


async def _by_account(
    conn: Conn, scope: StatsScope, accounts: Reporting, ends: Sequence[datetime]
) -> list[CountsRow]:
    """Return the counts of each account, which are kept by project only."""
    projects = {one.project_id for one in accounts.by_id.values()}
    return [
        row
        for project in sorted(projects)
        for row in await store.read(conn, StatsScope(project, scope.is_test), ACCOUNT, ends)
    ]
