"""Overview of the queue, read in one snapshot."""

from mailqueue.contract.operations import Overview
from mailqueue.db.fetch import Conn
from mailqueue.operations.store import overview as overview_store
from mailqueue.operations.store import queues as queues_store

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
    """Return the state of the queue; every status has a total, 0 included."""
    found = await overview_store.totals(conn)
    counted = {each.status: each.emails for each in found}
    return Overview(
        lanes=await overview_store.lane_depths(conn),
        senders=await overview_store.senders_today(conn),
        workers=await overview_store.workers_seen(conn),
        totals={status: counted.get(status, 0) for status in STATUSES},
        estimated=[each.status for each in found if each.is_estimate],
        queues=await queues_store.states(conn),
    )
