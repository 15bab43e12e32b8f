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
    found = await store.totals(conn)
    counted = {each.status: each.emails for each in found}
    return Overview(
        lanes=await store.lane_depths(conn),
        senders=await store.senders_today(conn),
        workers=await store.workers_seen(conn),
        totals={status: counted.get(status, 0) for status in STATUSES},
        estimated=[each.status for each in found if each.is_estimate],
    )
