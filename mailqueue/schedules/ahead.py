"""Emails that a schedule has queued for a later time."""

from uuid import UUID

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.schedules.store import schedules as store

MAX_COUNTED = 10_000
"""Emails up to which they are counted exactly."""


async def count(conn: Conn, project_id: UUID, schedule_id: UUID) -> int:
    """Return how many emails a cancellation would cancel; one more than MAX_COUNTED: more of them.

    Raises:
        NotFound: the project has no such schedule.
    """
    found = await store.count_ahead(conn, project_id, schedule_id)
    if found is None:
        raise NotFound("schedule", schedule_id)
    return found
