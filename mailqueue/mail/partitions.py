"""Keeps the monthly partitions of mail made ahead."""

from mailqueue.db.fetch import Conn
from mailqueue.mail import store

MONTHS_AHEAD = 3


async def keep_partitions(conn: Conn) -> int:
    """Make what the coming months need; say how many partitions were missing."""
    return await store.ensure_partitions(conn, MONTHS_AHEAD)
