"""Try a schedule before it exists."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from mailqueue.contract.automation.schedules import ScheduleEstimate
from mailqueue.db.fetch import Conn
from mailqueue.schedules import schedules


async def try_out(
    conn: Conn, project_id: UUID, given: Mapping[str, Any], *, by: str
) -> ScheduleEstimate:
    """Return what a run of a new schedule would come to: it is added, read and rolled back.

    Raises:
        InvalidField: a field is invalid.
        Conflict: the project has an unfinished schedule of that name.
    """
    async with conn.transaction(force_rollback=True):
        made = await schedules.add(conn, project_id, given, by=by)
        return await schedules.estimate(conn, project_id, made.id)
