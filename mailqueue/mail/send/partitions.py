"""Creates the monthly partitions of the mail tables ahead of time."""

import asyncio

from mailqueue.core.crashpoints import reach
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.send.store import claims as claims_store

MONTHS_AHEAD = 3
CHECK_SECONDS = 6 * 3600


async def keep_partitions(conn: Conn) -> int:
    """Create the partitions of the coming months; return how many were missing."""
    return await claims_store.ensure_partitions(conn, MONTHS_AHEAD)


async def keep_partitions_forever(link: Link) -> None:
    """Create missing partitions every few hours until cancelled: workers run for months."""
    while True:
        await link.call(keep_partitions)
        reach("partitions.made")
        await link.close()
        await asyncio.sleep(CHECK_SECONDS)
