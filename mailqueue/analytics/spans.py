"""The time that an answer covers, and the spans that it is divided into."""

from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailqueue.analytics import store
from mailqueue.analytics.model import Starts, TimeSpan
from mailqueue.contract.analytics import Bucket
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn

DEFAULT_TIME = timedelta(days=30)
"""Time that an answer covers where none was requested."""
MAX_SPANS = 5_000
"""Spans of a series."""
MAX_TIME = timedelta(days=3660)
QUARTER = timedelta(minutes=15)
_LENGTHS = {
    Bucket.MINUTE: timedelta(minutes=1),
    Bucket.HOUR: timedelta(hours=1),
    Bucket.DAY: timedelta(days=1),
    Bucket.WEEK: timedelta(days=7),
    Bucket.MONTH: timedelta(days=28),
}
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)


async def requested_span(
    conn: Conn,
    since: datetime | None,
    until: datetime | None,
    zone: str | None,
    *,
    project_id: UUID | None,
) -> TimeSpan:
    """Return the requested time; the last 30 days in the time zone of the project by default.

    Raises:
        InvalidField: the time is empty or too long, or there is no such time zone.
    """
    if zone is None:
        zone = await store.zone_of(conn, project_id)
    elif not await store.is_zone(conn, zone):
        raise InvalidField("timezone", f"there is no time zone {zone[:100]}")
    now = (await store.progress(conn)).now
    end = until or now
    start = since or end - DEFAULT_TIME
    if start >= end:
        raise InvalidField("from", "must be before `to`")
    if start < _EARLIEST or end > now + MAX_TIME or end - start > MAX_TIME:
        raise InvalidField("from", f"at most {MAX_TIME.days} days, from 2000 on")
    return TimeSpan(start, end, zone)


async def whole(conn: Conn, span: TimeSpan, bucket: Bucket) -> Starts:
    """Return the spans of a time: whole ones, that at its beginning and end included.

    Raises:
        InvalidField: there are too many.
    """
    if (span.until - span.since) / _LENGTHS[bucket] > MAX_SPANS:
        raise InvalidField("bucket", f"at most {MAX_SPANS:,} spans: use a longer one, or less time")
    return await store.spans(conn, span, bucket)


def quarters(span: TimeSpan) -> TimeSpan:
    """Return the time in whole quarters of an hour, of which counts consist. Pure."""
    since = span.since - (span.since - _EARLIEST) % QUARTER
    until = span.until + (-(span.until - _EARLIEST)) % QUARTER
    return TimeSpan(since, until, span.time_zone)


def reading(conn: Conn, longest: timedelta) -> AbstractAsyncContextManager[None]:
    """Return a context in which each statement of the transaction takes at most that time.

    Raises:
        InvalidField: one took longer, so that the transaction has ended.
    """
    return store.bounded(conn, longest)
