"""Figures of the database for monitoring."""

from mailqueue.db.fetch import Conn
from mailqueue.operations.store import gauges as store
from mailqueue.telemetry.metrics.gauges import Reading


async def read_gauges(conn: Conn) -> list[Reading]:
    """Return the figures of the whole installation."""
    return await store.read(conn)
