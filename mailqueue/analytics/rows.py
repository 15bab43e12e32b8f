"""Rows of all counts by span, for answers in forms other than ours."""

from datetime import datetime

from mailqueue.analytics import store
from mailqueue.analytics.model import CountsRow, Starts, StatsScope
from mailqueue.contract.analytics import Dimension
from mailqueue.db.fetch import Conn


async def rows_of(conn: Conn, scope: StatsScope, starts: Starts) -> list[CountsRow]:
    """Return the counts of a scope in each span that has some."""
    return await store.read_scope(conn, scope, starts)


async def rows_by_value(
    conn: Conn, scope: StatsScope, dimension: Dimension, starts: Starts
) -> list[CountsRow]:
    """Return the counts of each value of a dimension in each span that has some."""
    return await store.read(conn, scope, dimension.value, [one.started_at for one in starts])


async def current_time(conn: Conn) -> datetime:
    """Return the time of the database."""
    return (await store.progress(conn)).now
