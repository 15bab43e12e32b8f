"""Comparing counts with history, and counting anew."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta

from mailqueue.analytics import store
from mailqueue.analytics.model import DifferenceRow
from mailqueue.contract.counts import StatsDifference, StatsProgress, StatsVerification
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn

PART = timedelta(days=1)
"""Time that one statement compares."""
MAX_FIRST = 10
"""Counts that are named where some differ."""


async def verify(
    conn: Conn, since: datetime | None, until: datetime | None
) -> AsyncIterator[StatsVerification]:
    """Yield what was compared so far, after each day.

    Raises:
        InvalidField: history is not complete since then.
    """
    first = await store.complete_since(conn)
    start, end = since or first, until or (await store.progress(conn)).now
    if start < first:
        raise InvalidField("from", f"retention has removed mail from before {first:%Y-%m-%d}")
    if start >= end:
        raise InvalidField("from", "must be before `to`")
    counts = differences = 0
    named: list[StatsDifference] = []
    at = start
    while at < end:
        rows = await store.verify(conn, at, min(at + PART, end), limit=MAX_FIRST)
        counts += rows[0].counts
        differences += rows[0].differences
        named += _differences(rows)
        at += PART
        yield StatsVerification(start, min(at, end), counts, differences, named[:MAX_FIRST])


def _differences(rows: Sequence[DifferenceRow]) -> list[StatsDifference]:
    return [
        StatsDifference(
            table=row.table,
            project=row.project,
            is_test=bool(row.is_test),
            dimension=row.dimension or "",
            value=row.value or "",
            value2=row.value2 or "",
            at=row.at,
            metric=row.metric or "",
            counted=row.counted or 0,
            in_history=row.in_history or 0,
        )
        for row in rows
        if row.table is not None and row.at is not None
    ]


async def rebuild(conn: Conn, since: datetime | None, *, by: str) -> datetime:
    """Begin to count anew from a day (UTC) on, the first that history has by default.

    Raises:
        InvalidField: history is not complete since then, or another such count is not finished.
    """
    return await store.rebuild(conn, since, by=by)


async def progress(conn: Conn) -> StatsProgress:
    """Return how far counting has come."""
    row = await store.progress(conn)
    share = None
    if row.rebuilt_from is not None and row.rebuilt_to is not None:
        share = round((row.as_of - row.rebuilt_from) / (row.rebuilt_to - row.rebuilt_from), 4)
    return StatsProgress(
        as_of=row.as_of,
        behind_seconds=round((row.now - row.as_of).total_seconds(), 3),
        rebuilt_from=row.rebuilt_from,
        rebuilt_to=row.rebuilt_to,
        share=share,
    )
