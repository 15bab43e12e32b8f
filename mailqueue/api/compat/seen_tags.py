"""The tags of a project that were counted lately, for the compatible APIs."""

from datetime import datetime, timedelta
from typing import NamedTuple

from mailqueue.analytics import spans
from mailqueue.analytics.model import CountsRow, Starts, StatsScope, TimeSpan
from mailqueue.analytics.rows import current_time, rows_by_value
from mailqueue.api.http.context import RequestContext
from mailqueue.contract.analytics import Bucket, Dimension

SEEN_WITHIN = timedelta(days=90)
"""Tags that were counted in this time are there."""
LONGEST_READING = timedelta(seconds=5)
"""The time that a statement may take which reads the counts of all values of a dimension."""


MAX_TAGS_OF_A_DAY = 500
"""Tags of a project that have counts of their own on a day (UTC), as `name_stats_values` has it."""


class SeenTag(NamedTuple):
    """A tag, the first and the last day of which it has counts, and these."""

    tag: str
    first: datetime
    last: datetime
    counts: list[CountsRow]


async def seen_tags(call: RequestContext, *, within: timedelta = SEEN_WITHIN) -> list[SeenTag]:
    """Return the tags of the days from a time ago on by name.

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
        starts = await spans.whole(conn, TimeSpan(now - within, now, "UTC"), Bucket.DAY)
        rows = await rows_by_value(conn, scope, Dimension.TAG, starts)
    by_tag: dict[str, list[CountsRow]] = {}
    for row in rows:
        if row.value:  # "" sums up those that have no counts of their own
            by_tag.setdefault(row.value, []).append(row)
    return [_tag_of(tag, found, starts) for tag, found in sorted(by_tag.items())]


async def tags_of_today(call: RequestContext) -> int:
    """Return how many tags have counts of today (UTC).

    Raises:
        InvalidField: there are too many to read.
    """
    found = await seen_tags(call, within=timedelta(microseconds=1))
    return len(found)


def _tag_of(tag: str, found: list[CountsRow], starts: Starts) -> SeenTag:
    days = [row.n for row in found]
    return SeenTag(tag, starts[min(days) - 1].started_at, starts[max(days) - 1].started_at, found)
