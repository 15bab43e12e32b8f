"""Counts of emails, rates of them, and how well they agree with history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from mailqueue.contract.value import Value


@dataclass(frozen=True, slots=True)
class EmailCounts(Value):
    """Counts of emails and of what happened to them."""

    accepted: int = 0
    """Emails accepted in this time that have an outcome by now."""
    sent: int = 0
    """Emails that a server or provider took."""
    failed: int = 0
    """Emails that were given up after their attempts failed."""
    expired: int = 0
    """Emails that were not sent within their time to live."""
    suppressed: int = 0
    """Emails whose recipient is suppressed."""
    cancelled: int = 0
    """Emails that were cancelled."""
    delivered: int = 0
    """Emails of which a delivery was reported."""
    soft_bounces: int = 0
    """Emails of which a temporary refusal was reported."""
    hard_bounces: int = 0
    """Emails of which a permanent refusal was reported."""
    complaints: int = 0
    """Emails that a recipient complained about."""
    unsubscribes: int = 0
    """Emails through which a recipient unsubscribed."""
    opens: int = 0
    """Opens by people."""
    unique_opens: int = 0
    """Emails opened by people."""
    machine_opens: int = 0
    """Opens by programs."""
    unique_machine_opens: int = 0
    """Emails opened by programs."""
    clicks: int = 0
    """Clicks by people."""
    unique_clicks: int = 0
    """Emails in which people clicked."""
    machine_clicks: int = 0
    """Clicks by programs."""
    unique_machine_clicks: int = 0
    """Emails in which programs clicked."""


@dataclass(frozen=True, slots=True)
class CountRate(Value):
    """A part of a count."""

    value: float | None
    """From 0 to 1; null where it is unknown, or of nothing."""
    count: int
    """What is counted."""
    of: str
    """What it is a part of: the name of a count, or `sent by accounts that report deliveries`."""
    of_count: int
    """The count that it is a part of."""
    is_known: bool = True
    """False where accounts sent the emails that never report deliveries: the rate is unknown."""


@dataclass(frozen=True, slots=True)
class CountRates(Value):
    """Rates, each with what it is a part of."""

    delivery: CountRate
    hard_bounce: CountRate
    soft_bounce: CountRate
    complaint: CountRate
    open: CountRate
    click: CountRate
    unsubscribe: CountRate
    failure: CountRate


METRICS: Mapping[str, str] = {
    name: name.replace("_", " ") for name in EmailCounts.__dataclass_fields__
}
"""Names of counts, with how people read them."""


@dataclass(frozen=True, slots=True)
class StatsDifference(Value):
    """A count that differs from history."""

    table: str
    project: str | None
    """Null for all projects together."""
    is_test: bool
    dimension: str
    value: str
    value2: str
    at: datetime
    metric: str
    counted: int
    in_history: int


@dataclass(frozen=True, slots=True)
class StatsVerification(Value):
    """Result of comparing counts with history."""

    since: datetime
    until: datetime
    counts: int
    """Counts that were compared."""
    differences: int
    first: Sequence[StatsDifference]
    """The first counts that differ."""


@dataclass(frozen=True, slots=True)
class StatsProgress(Value):
    """How far counting has come."""

    as_of: datetime
    behind_seconds: float
    rebuilt_from: datetime | None
    """Since when is counted anew; null where nothing is."""
    rebuilt_to: datetime | None
    share: float | None
    """Part of it that is done, from 0 to 1."""
