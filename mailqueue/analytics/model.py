"""What is asked of counts, and rows of them. Values only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from mailqueue.contract.analytics import Dimension


@dataclass(frozen=True, slots=True)
class StatsScope:
    """Whose mail is read: of a project or (None) of all, of one mode, and of one value."""

    project_id: UUID | None
    is_test: bool = False
    dimension: Dimension | None = None
    """None: all of it."""
    value: str | None = None


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time from `since` up to `until`, which is not part of it, in a time zone."""

    since: datetime
    until: datetime
    time_zone: str

    @property
    def before(self) -> "TimeSpan":
        """Return the time before, which is as long."""
        return TimeSpan(self.since - (self.until - self.since), self.since, self.time_zone)


class SpanStart(NamedTuple):
    """The start of a span, and in its time zone."""

    started_at: datetime
    local_at: datetime


class CountsRow(NamedTuple):
    """Counts of one span and value; the columns behind `value2` are those of EmailCounts."""

    n: int
    value: str
    value2: str
    accepted: int
    sent: int
    failed: int
    expired: int
    suppressed: int
    cancelled: int
    delivered: int
    soft_bounces: int
    hard_bounces: int
    complaints: int
    unsubscribes: int
    opens: int
    unique_opens: int
    machine_opens: int
    unique_machine_opens: int
    clicks: int
    unique_clicks: int
    machine_clicks: int
    unique_machine_clicks: int


class SummedRow(NamedTuple):
    """One count of a span and value; value None: of all other values."""

    n: int
    value: str | None
    total: int


class SentRow(NamedTuple):
    """What a sender account sent."""

    value: str
    sent: int


class AccountRow(NamedTuple):
    """A sender account with counts."""

    sender_account_id: int
    project_id: UUID
    name: str
    provider: str
    tells_since: datetime | None


class LatencyRow(NamedTuple):
    """Response times of a sender account."""

    sender_account_id: int
    attempts: int
    p50_ms: int | None
    p95_ms: int | None
    p99_ms: int | None


class LinkUrl(NamedTuple):
    """Where a link leads."""

    link: str
    url: str


class CountedTemplate(NamedTuple):
    """A template, or a version of one, by id."""

    id: UUID
    slug: str
    name: str
    version: int


class DifferenceRow(NamedTuple):
    """A count that differs from history; without a table: only how many were compared."""

    counts: int
    differences: int
    table: str | None
    project: str | None
    is_test: bool | None
    dimension: str | None
    value: str | None
    value2: str | None
    at: datetime | None
    metric: str | None
    counted: int | None
    in_history: int | None


class ProgressRow(NamedTuple):
    """How far counting has come."""

    as_of: datetime
    now: datetime
    rebuilt_from: datetime | None
    rebuilt_to: datetime | None


Starts = Sequence[SpanStart]
