"""The form of the analytics: what was typed, the time that is meant, and how it is divided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailqueue.analytics import spans
from mailqueue.analytics.model import TimeSpan
from mailqueue.contract.analytics import Bucket, Dimension
from mailqueue.contract.counts import METRICS
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.web.forms import day_of, text_of

MAX_POINTS = 400
"""Spans that a page draws."""
NAMES = ("period", "since", "until", "bucket", "metric", "group", "compare", "mode")
PERIODS = (
    ("hour", "the last hour"),
    ("day", "the last 24 hours"),
    ("week", "7 days"),
    ("month", "30 days"),
    ("quarter", "90 days"),
    ("year", "365 days"),
    ("days", "the days below"),
)
_LENGTHS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
_DAYS = {"week": 7, "month": 30, "quarter": 90, "year": 365}
_BUCKETS = (
    (timedelta(hours=2), Bucket.MINUTE),
    (timedelta(days=3), Bucket.HOUR),
    (timedelta(days=100), Bucket.DAY),
    (timedelta(days=800), Bucket.WEEK),
)
"""Up to which time each span is used where none was chosen; months beyond."""
BUCKETS = (("", "by the time"), *((one.value, one.value) for one in Bucket))
GROUPS = (
    ("", "nothing"),
    ("template", "template"),
    ("variant", "variant of an A/B test"),
    ("provider", "provider"),
    ("account", "sender account"),
    ("campaign", "campaign"),
    ("category", "category"),
    ("tag", "tag"),
    ("domain", "domain of the recipient"),
    ("country", "country of opens and clicks"),
    ("city", "city of opens and clicks"),
    ("client", "client of opens and clicks"),
    ("system", "operating system"),
    ("device", "device"),
)
COMPARISONS = (("", "nothing"), ("before", "the time before"))
MODES = (("live", "live"), ("test", "of test keys"))
LABELS: Mapping[str, str] = {
    "period": "Time",
    "since": "First day",
    "until": "Last day",
    "bucket": "Spans of",
    "metric": "Count",
    "group": "Grouped by",
    "compare": "Compared with",
    "mode": "Mail",
}
_CHOICES: Mapping[str, frozenset[str]] = {
    "period": frozenset(dict(PERIODS)),
    "bucket": frozenset(dict(BUCKETS)),
    "metric": frozenset(METRICS),
    "group": frozenset(dict(GROUPS)),
    "compare": frozenset(dict(COMPARISONS)),
    "mode": frozenset(dict(MODES)),
}
_DEFAULTS: Mapping[str, str] = {"period": "month", "metric": "sent", "mode": "live"}


@dataclass(frozen=True, slots=True)
class AnalyticsForm:
    """What was typed, and what is wrong with it by field."""

    typed: Mapping[str, str]
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def query(self) -> Mapping[str, str]:
        """Return what differs from the defaults, for links to other pages of the same time."""
        return {
            name: value for name, value in self.typed.items() if value != _DEFAULTS.get(name, "")
        }

    @property
    def is_test(self) -> bool:
        """Return whether the mail of test keys is shown."""
        return self.typed["mode"] == "test"

    @property
    def compares(self) -> bool:
        """Return whether the time before is shown too."""
        return self.typed["compare"] == "before"

    @property
    def group_by(self) -> Dimension | None:
        """Return what counts are grouped by."""
        return Dimension(self.typed["group"]) if self.typed["group"] else None

    def bucket_of(self, span: TimeSpan) -> Bucket:
        """Return the length of the spans of a time."""
        if self.typed["bucket"]:
            return Bucket(self.typed["bucket"])
        length = span.until - span.since
        return next((bucket for most, bucket in _BUCKETS if length <= most), Bucket.MONTH)


def read_form(given: Mapping[str, str]) -> AnalyticsForm:
    """Return the form of a query. Pure."""
    typed = {name: text_of(given, name) or _DEFAULTS.get(name, "") for name in NAMES}
    faults = {
        name: "must be one of those shown"
        for name, choices in _CHOICES.items()
        if typed[name] not in choices
    }
    for name in ("since", "until"):
        if typed[name] and day_of(typed[name]) is None:
            faults[name] = "must be a day such as 2030-05-01"
    if typed["period"] == "days" and not typed["since"]:
        faults["since"] = "is needed"
    return AnalyticsForm(typed, faults)


async def time_of(conn: Conn, form: AnalyticsForm, project_id: UUID, now: datetime) -> TimeSpan:
    """Return the time of a form: days are those of the time zone of the project.

    Raises:
        InvalidField: the time is empty or too long.
    """
    zone = (await spans.requested_span(conn, None, now, None, project_id=project_id)).time_zone
    period = form.typed["period"]
    if period in _LENGTHS:
        return TimeSpan(now - _LENGTHS[period], now, zone)
    if period in _DAYS:
        first = TimeSpan(now - timedelta(days=_DAYS[period] - 1), now, zone)
        days = await spans.whole(conn, first, Bucket.DAY)
        return TimeSpan(days[0].started_at, now, zone)
    since, end = day_of(form.typed["since"]), day_of(form.typed["until"])
    if since is None or since > now:
        raise InvalidField("since", "must be a day that is not in the future")
    if end is not None and end < since:
        raise InvalidField("until", "must not be before the first day")
    begin = await _start_of(conn, since, zone)
    until = now if end is None else await _start_of(conn, end + timedelta(days=1), zone)
    try:
        return await spans.requested_span(conn, begin, min(until, now), zone, project_id=project_id)
    except InvalidField as exc:
        raise InvalidField("since", exc.why) from None


async def check_points(conn: Conn, span: TimeSpan, bucket: Bucket) -> None:
    """Raise InvalidField if a time has more spans than a page draws, or none that are kept."""
    if bucket is Bucket.MINUTE and span.since < datetime.now(UTC) - timedelta(days=90):
        raise InvalidField("bucket", "counts by minute are kept for 90 days: use a longer span")
    if len(await spans.whole(conn, span, bucket)) > MAX_POINTS + 1:
        raise InvalidField("bucket", f"makes more than {MAX_POINTS} spans: use a longer one")


async def _start_of(conn: Conn, day: datetime, zone: str) -> datetime:
    """Return the begin of a day of the calendar in a time zone."""
    around = TimeSpan(day - timedelta(days=1), day + timedelta(days=2), zone)
    wanted = day.replace(tzinfo=None)
    for one in await spans.whole(conn, around, Bucket.DAY):
        if one.local_at >= wanted:
            return one.started_at
    return day
