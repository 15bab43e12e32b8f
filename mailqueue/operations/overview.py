"""Overview of the queue, read in one snapshot."""

from uuid import UUID

from mailqueue.contract.operations import Overview
from mailqueue.db.fetch import Conn
from mailqueue.operations.store import overview as overview_store
from mailqueue.operations.store import queues as queues_store
from mailqueue.operations.store import services as services_store
from mailqueue.projects import manage as projects

UNFINISHED = ("pending", "assigned", "held")
STATUSES = (
    *UNFINISHED,
    "sent",
    "failed",
    "suppressed",
    "expired",
    "cancelled",
)


async def has_sent(conn: Conn, project_id: UUID | None = None) -> bool:
    """Return whether an account of a project, or of any, has ever sent mail; the trap is none."""
    return await overview_store.has_sent(conn, project_id)


async def look(conn: Conn, *, project: str | None = None) -> Overview:
    """Return the state of the queue; every status has a total, 0 included.

    Of one project: its lanes, accounts and totals.

    Raises:
        NotFound: there is no such project.
    """
    lanes = await overview_store.lane_depths(conn)
    senders = await overview_store.senders_today(conn)
    if project is None:
        found = await overview_store.totals(conn)
        counted = {each.status: each.emails for each in found}
    else:
        known = await projects.find(conn, project)
        lanes = [each for each in lanes if each.project == known.name]
        senders = [each for each in senders if each.project == known.name]
        found = await overview_store.finished_of(conn, known.id)
        counted = {each.status: each.emails for each in found}
        counted |= {state: sum(getattr(each, state) for each in lanes) for state in UNFINISHED}
    return Overview(
        lanes=lanes,
        senders=senders,
        workers=await overview_store.workers_seen(conn),
        totals={status: counted.get(status, 0) for status in STATUSES},
        estimated=[each.status for each in found if each.is_estimate],
        queues=await queues_store.states(conn),
        services=await services_store.list_all(conn),
    )
