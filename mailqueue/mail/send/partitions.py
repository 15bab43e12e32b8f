"""Keeps the monthly partitions of mail made ahead."""

import asyncio

from mailqueue.core.crashpoints import reach
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.mail.send.store import claims as claims_store

MONTHS_AHEAD = 3
LOOK_SECONDS = 6 * 3600


async def keep_partitions(conn: Conn) -> int:
    """Make what the coming months need; return how many partitions were missing."""
    return await claims_store.ensure_partitions(conn, MONTHS_AHEAD)


async def keep_partitions_forever(link: Link) -> None:
    """Look every few hours, from now on: workers run for months."""
    while True:
        await link.call(keep_partitions)
        reach("partitions.made")
        await link.close()
        await asyncio.sleep(LOOK_SECONDS)
