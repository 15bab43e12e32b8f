"""The birthday rule of a project: show, set, remove."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from mailqueue.contract.automation.timed_events import BirthdayRule, LeapDay
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.timed_events import store


async def show(conn: Conn, project_id: UUID) -> BirthdayRule:
    """Return the birthday rule of a project.

    Raises:
        NotFound: it has none.
    """
    found = await store.find_rule(conn, project_id)
    if found is None:
        raise NotFound("birthday rule", "of this project")
    return found


async def put(
    conn: Conn,
    project_id: UUID,
    *,
    local_time: str,
    leap_day: LeapDay,
    template: str | None,
    webhook_id: UUID | None,
    payload: Mapping[str, Any],
    by: str,
) -> BirthdayRule:
    """Set what is done on birthdays; workers then plan those of all contacts.

    Raises:
        InvalidField: a field is invalid.
    """
    await store.put_rule(
        conn,
        project_id,
        local_time=local_time,
        leap_day=leap_day,
        template=template,
        webhook_id=webhook_id,
        payload=payload,
        by=by,
    )
    return await show(conn, project_id)


async def remove(conn: Conn, project_id: UUID, *, by: str) -> None:
    """End the birthdays of a project: none is delivered from now on.

    Raises:
        NotFound: it has none.
    """
    if not await store.remove_rule(conn, project_id, by=by):
        raise NotFound("birthday rule", "of this project")
