"""The tags of a project that were counted lately, for the compatible APIs."""

from datetime import datetime, timedelta
from typing import NamedTuple

from mailqueue.analytics import spans
from mailqueue.analytics.model import StatsScope, TimeSpan
from mailqueue.analytics.rows import current_time, rows_by_value
from mailqueue.api.http.context import RequestContext
from mailqueue.contract.analytics import Bucket, Dimension

SEEN_WITHIN = timedelta(days=90)
"""Tags that were counted in this time are there."""
LONGEST_READING = timedelta(seconds=5)
"""The time that a statement may take which reads the counts of all values of a dimension."""


class SeenTag(NamedTuple):
    """A tag, and the first and the last day of which it has counts."""

    tag: str
    first: datetime
    last: datetime


async def seen_tags(call: RequestContext) -> list[SeenTag]:
    """Return the tags by name.

    Raises:
        InvalidField: there are too many to read.
    """
    scope = StatsScope(call.caller.project_id, call.caller.is_test)
    async with (
        call.reports() as conn,
        conn.transaction(),
        spans.reading(conn, LONGEST_READING),
    ):
        now = await current_time(conn)
        starts = await spans.whole(conn, TimeSpan(now - SEEN_WITHIN, now, "UTC"), Bucket.DAY)
        rows = await rows_by_value(conn, scope, Dimension.TAG, starts)
    days: dict[str, list[int]] = {}
    for row in rows:
        if row.value:  # "" sums up those that have no counts of their own
            days.setdefault(row.value, []).append(row.n)
    return [
        SeenTag(tag, starts[min(found) - 1].started_at, starts[max(found) - 1].started_at)
        for tag, found in sorted(days.items())
    ]
