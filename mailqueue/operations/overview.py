"""What waits, what runs and what was sent, read at one moment."""

from mailqueue.db.fetch import Conn
from mailqueue.operations import store
from mailqueue.operations.model import Overview

STATUSES = (
    "pending",
    "assigned",
    "held",
    "sent",
    "failed",
    "suppressed",
    "expired",
    "cancelled",
)


async def look(conn: Conn) -> Overview:
    """Give the state of the queue; every status word has a total, 0 included."""
    counted = {each.status: each.emails for each in await store.totals(conn)}
    return Overview(
        lanes=await store.lane_depths(conn),
        senders=await store.senders_today(conn),
        workers=await store.workers_seen(conn),
        totals={status: counted.get(status, 0) for status in STATUSES},
    )
