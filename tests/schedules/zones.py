"""Zones of tests whose clocks do what others did before the rules that are loaded begin."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from mailqueue.db.fetch import Conn

AGES = timedelta(days=28 * 365 + 7)
"""28 years, after which days of the week and leap years come again."""


async def shifted(conn: Conn, zone: str) -> None:
    """Add a zone of the test whose clock does what another's did 28 years earlier."""
    await conn.execute("INSERT INTO mailqueue.time_zones VALUES (%s, %s)", [f"Test/{zone}"] * 2)
    at = datetime(2005, 1, 1, tzinfo=UTC)
    known = None
    while at < datetime(2026, 1, 1, tzinfo=UTC):
        offset = at.astimezone(ZoneInfo(zone)).utcoffset()
        if offset != known:
            await conn.execute(
                "INSERT INTO mailqueue.time_zone_offsets VALUES (%s, %s, %s)",
                [f"Test/{zone}", at + AGES, offset],
            )
            known = offset
        at += timedelta(hours=1)
