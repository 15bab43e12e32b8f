"""SQL of figures for monitoring."""

from mailqueue.db.fetch import Conn, many
from mailqueue.db.statements import infrastructure as sql
from mailqueue.telemetry.metrics.gauges import Reading


async def read(conn: Conn) -> list[Reading]:
    """Return the figures of the whole installation."""
    return await many(conn, sql.READ_GAUGES, None, Reading)
