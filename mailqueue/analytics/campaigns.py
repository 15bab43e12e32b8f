"""Campaigns side by side."""

from dataclasses import dataclass
from datetime import datetime

from mailqueue.analytics import store
from mailqueue.analytics.model import StatsScope, TimeSpan
from mailqueue.analytics.rates import counts_of
from mailqueue.analytics.spans import quarters
from mailqueue.contract.analytics import Dimension
from mailqueue.contract.counts import EmailCounts
from mailqueue.db.fetch import Conn


@dataclass(frozen=True, slots=True)
class CountedCampaigns:
    """The counts of each campaign by its id; `as_of`: everything before is counted."""

    as_of: datetime
    by_name: dict[str, EmailCounts]


async def campaigns(conn: Conn, scope: StatsScope, span: TimeSpan) -> CountedCampaigns:
    """Return the campaigns of a project with counts of a time in whole quarters of an hour."""
    span = quarters(span)
    as_of = await store.as_of(conn)
    rows = await store.read(conn, scope, Dimension.CAMPAIGN.value, [span.since, span.until])
    return CountedCampaigns(as_of, {row.value: counts_of([row]) for row in rows})
