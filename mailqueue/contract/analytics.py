"""Answers about counts of mail and events, as callers see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from mailqueue.contract.counts import CountRates, EmailCounts
from mailqueue.contract.value import Value


class Bucket(StrEnum):
    """Spans of time of a series, by the calendar of its time zone."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class Dimension(StrEnum):
    """What counts can be grouped by."""

    CAMPAIGN = "campaign"
    TEMPLATE = "template"
    VERSION = "version"
    VARIANT = "variant"
    CATEGORY = "category"
    TAG = "tag"
    ACCOUNT = "account"
    PROVIDER = "provider"
    DOMAIN = "domain"
    COUNTRY = "country"
    CITY = "city"
    CLIENT = "client"
    SYSTEM = "system"
    DEVICE = "device"


@dataclass(frozen=True, slots=True)
class CountsOfTime(Value):
    """Counts and rates of a span of time."""

    since: datetime
    until: datetime
    counts: EmailCounts
    rates: CountRates


@dataclass(frozen=True, slots=True)
class AnalyticsOverview(Value):
    """Counts and rates of a project, or of all, in a span of time."""

    as_of: datetime
    """Everything that was written before this time is counted."""
    time_zone: str
    current: CountsOfTime
    previous: CountsOfTime | None
    """The same of the time before, which is as long; null unless it was requested."""


@dataclass(frozen=True, slots=True)
class SeriesPoint(Value):
    """A count in one span of a series."""

    at: datetime
    """Start of the span."""
    local: str
    """The same in the time zone of the series, without offset."""
    value: int


@dataclass(frozen=True, slots=True)
class Series(Value):
    """A series of counts, of all emails or of those with one value of a dimension."""

    value: str | None
    """Value of the dimension; null in a series of all."""
    name: str | None
    """What people call the value: the name of a template, account, or A/B test and variant."""
    is_other: bool
    """Whether it sums up all values without a series of their own."""
    total: int
    points: Sequence[SeriesPoint]


@dataclass(frozen=True, slots=True)
class AnalyticsTimeseries(Value):
    """Counts over time."""

    as_of: datetime
    """Everything that was written before this time is counted."""
    metric: str
    bucket: Bucket
    time_zone: str
    since: datetime
    until: datetime
    group_by: Dimension | None
    series: Sequence[Series]
    previous: Sequence[Series]
    """The same of the time before, which is as long; empty unless it was requested."""


@dataclass(frozen=True, slots=True)
class HeatmapCell(Value):
    """A count of one hour of a day of the week."""

    weekday: int
    """1 is Monday, 7 is Sunday."""
    hour: int
    value: int


@dataclass(frozen=True, slots=True)
class AnalyticsHeatmap(Value):
    """A count by hour of the day and day of the week, all 168 of them."""

    as_of: datetime
    """Everything that was written before this time is counted."""
    metric: str
    time_zone: str
    since: datetime
    until: datetime
    cells: Sequence[HeatmapCell]


@dataclass(frozen=True, slots=True)
class TemplateCounts(Value):
    """Counts and rates of one template."""

    id: UUID | None
    """Id of the template; null for all that have no row of their own."""
    slug: str | None
    name: str | None
    counts: EmailCounts
    rates: CountRates


@dataclass(frozen=True, slots=True)
class AnalyticsTemplates(Value):
    """Templates with their counts, the one that was sent most first."""

    as_of: datetime
    """Everything that was written before this time is counted."""
    since: datetime
    until: datetime
    data: Sequence[TemplateCounts]


@dataclass(frozen=True, slots=True)
class VersionCounts(Value):
    """Counts and rates of one version of a template."""

    id: UUID
    version: int
    counts: EmailCounts
    rates: CountRates


@dataclass(frozen=True, slots=True)
class LinkCounts(Value):
    """Clicks on one link of a template."""

    url: str | None
    """Where it leads; null for links without a row of their own, or that are no longer stored."""
    clicks: int
    """Clicks by people."""
    unique_clicks: int
    """Emails in which the first click by a person was on this link."""
    machine_clicks: int
    """Clicks by programs."""


@dataclass(frozen=True, slots=True)
class AnalyticsTemplate(Value):
    """One template with its versions and links."""

    as_of: datetime
    """Everything that was written before this time is counted."""
    since: datetime
    until: datetime
    id: UUID
    slug: str
    name: str
    counts: EmailCounts
    rates: CountRates
    versions: Sequence[VersionCounts]
    """Versions with counts, newest first."""
    links: Sequence[LinkCounts]
    """Links that were followed, at most 100, the one with most clicks by people first."""


@dataclass(frozen=True, slots=True)
class ResponseTimes(Value):
    """Time within which a share of the attempts was answered, in milliseconds.

    Times are kept in classes; each is the upper bound of its class, at most 26 % above.
    """

    attempts: int
    """Attempts whose time is known."""
    p50_ms: int | None
    p95_ms: int | None
    p99_ms: int | None


@dataclass(frozen=True, slots=True)
class AccountCounts(Value):
    """Counts, rates and response times of one sender account."""

    account: str
    provider: str
    reports_deliveries: bool
    """Whether it has ever reported a delivery; without, the delivery rate is unknown."""
    counts: EmailCounts
    rates: CountRates
    response_times: ResponseTimes


@dataclass(frozen=True, slots=True)
class ProviderCounts(Value):
    """Counts and rates of one provider."""

    provider: str
    counts: EmailCounts
    rates: CountRates


@dataclass(frozen=True, slots=True)
class AnalyticsProviders(Value):
    """Providers and sender accounts side by side, the one that sent most first."""

    as_of: datetime
    """Everything that was written before this time is counted."""
    since: datetime
    until: datetime
    providers: Sequence[ProviderCounts]
    accounts: Sequence[AccountCounts]
