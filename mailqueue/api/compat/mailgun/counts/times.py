"""The time that counts of Mailgun's API cover: start, end, duration and resolution."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import mktime_tz, parsedate_tz

from mailqueue.analytics import spans
from mailqueue.analytics.model import Starts, TimeSpan
from mailqueue.analytics.spans import MAX_TIME
from mailqueue.api.compat.mailgun.faults import NamedParameter
from mailqueue.contract.analytics import Bucket
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn

DEFAULT_TIME = timedelta(days=7)
_BUCKETS = {"hour": Bucket.HOUR, "day": Bucket.DAY, "month": Bucket.MONTH}
_DURATION = re.compile(r"(\d{1,5})([hdm])")
_EPOCH = re.compile(r"\d{1,11}(?:\.\d{1,9})?")
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CountedTime:
    """A time, and the spans that it is divided into."""

    span: TimeSpan
    bucket: Bucket


async def starts_of(conn: Conn, asked: CountedTime) -> Starts:
    """Return the spans of a time.

    Raises:
        NamedParameter: there are too many.
    """
    try:
        return await spans.whole(conn, asked.span, asked.bucket)
    except InvalidField as exc:
        raise NamedParameter("resolution", exc.why) from None


def counted_time(given: Mapping[str, str | None], *, now: datetime) -> CountedTime:
    """Return the time of a request; the last seven days by default. Pure.

    Raises:
        NamedParameter: a parameter is invalid, or the time is empty or too long.
    """
    resolution = given.get("resolution") or "day"
    if resolution not in _BUCKETS:
        raise NamedParameter("resolution", f"must be one of {', '.join(_BUCKETS)}")
    end = _instant("end", given.get("end")) or now
    start = _instant("start", given.get("start")) or end - DEFAULT_TIME
    if (duration := given.get("duration")) is not None:
        start = _before(end, duration)
    if start >= end:
        raise NamedParameter("start", "must be before end")
    if start < _EARLIEST or end > now + MAX_TIME or end - start > MAX_TIME:
        raise NamedParameter("start", f"at most {MAX_TIME.days} days, from 2000 on")
    return CountedTime(TimeSpan(start, end, "UTC"), _BUCKETS[resolution])


def _instant(name: str, text: str | None) -> datetime | None:
    """Parse a date of RFC 2822, or seconds since 1970."""
    if not text:
        return None
    try:
        if _EPOCH.fullmatch(text):
            return datetime.fromtimestamp(float(text), UTC)
        parts = parsedate_tz(text)
        if parts is None:
            raise ValueError("not a date")
        return datetime.fromtimestamp(mktime_tz((*parts[:9], parts[9] or 0)), UTC)
    except (ValueError, OverflowError, OSError, TypeError):
        why = f"a date as in RFC 2822 or seconds since 1970 are needed, got {text[:100]!r}"
        raise NamedParameter(name, why) from None


def _before(end: datetime, duration: str) -> datetime:
    """Return the time a duration before another: hours, days, or months of the calendar."""
    found = _DURATION.fullmatch(duration)
    if found is None or not int(found[1]):
        raise NamedParameter("duration", "must be such as 24h, 7d or 1m")
    number = int(found[1])
    try:
        if found[2] != "m":
            return end - (timedelta(hours=number) if found[2] == "h" else timedelta(days=number))
        months = end.year * 12 + end.month - 1 - number
        return end.replace(year=months // 12, month=months % 12 + 1, day=min(end.day, 28))
    except (ValueError, OverflowError):
        raise NamedParameter("duration", "is too long") from None
