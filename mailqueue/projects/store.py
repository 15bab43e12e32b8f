"""SQL of projects and their audit events."""

from collections.abc import Mapping
from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.contract.projects import BoundUsage
from mailqueue.core.errors import Conflict
from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db.fetch import Conn, many, maybe, run, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.projects import projects as sql
from mailqueue.projects.model import (
    Project,
    ProjectDay,
    ProjectToday,
)


async def add_project(conn: Conn, name: str, *, settings: Mapping[str, object], by: str) -> UUID:
    """Insert a project.

    Raises:
        InvalidField: the name is invalid or taken, or a setting is invalid.
    """
    with refusals(otherwise=""):
        params = {"name": name, "settings": Jsonb(with_wire_domains(settings)), "by": by}
        return await value(conn, sql.ADD_PROJECT, params, UUID)


async def read_project(
    conn: Conn, name: str | None = None, *, project_id: UUID | None = None
) -> Project | None:
    """Return the project of that name or id."""
    return await maybe(conn, sql.READ_PROJECT, {"name": name, "id": project_id}, Project)


async def list_projects(
    conn: Conn, *, after: str | None, status: str | None, text: str | None, limit: int
) -> list[Project]:
    """Return a page of projects; `status` None: all but deleted ones."""
    params = {"after": after, "status": status, "text": text, "most": limit}
    return await many(conn, sql.LIST_PROJECTS, params, Project)


async def change_project(conn: Conn, name: str, *, changes: Mapping[str, object], by: str) -> None:
    """Change settings of a project.

    Raises:
        InvalidField: the setting named is invalid; nothing is changed.
    """
    with refusals(otherwise=""):
        await run(
            conn,
            sql.CHANGE_PROJECT,
            {"name": name, "changes": Jsonb(with_wire_domains(changes)), "by": by},
        )


async def suspend_project(conn: Conn, name: str, *, reason: str, by: str) -> bool:
    """Suspend a project; return False where it was suspended for that reason.

    Raises:
        InvalidField: there is no reason, or the project is deleted.
    """
    with refusals(otherwise=""):
        params = {"name": name, "reason": reason, "by": by}
        return await value(conn, sql.SUSPEND_PROJECT, params, bool)


async def activate_project(conn: Conn, name: str, *, by: str) -> bool:
    """Activate a project; return False where it was active."""
    return await value(conn, sql.ACTIVATE_PROJECT, {"name": name, "by": by}, bool)


async def delete_project(conn: Conn, name: str, *, by: str) -> bool:
    """Mark a project as deleted; return False where it was.

    Raises:
        InvalidField: it is a project that cannot be deleted.
    """
    with refusals(otherwise=""):
        return await value(conn, sql.DELETE_PROJECT, {"name": name, "by": by}, bool)


async def project_today(conn: Conn, project_id: UUID) -> ProjectToday:
    """Return what a project sent today and may still send.

    Raises:
        Conflict: its counters are missing.
    """
    found = await maybe(conn, sql.READ_PROJECT_TODAY, {"id": project_id}, ProjectToday)
    if found is None:
        raise Conflict("the counters of this project are missing: restore them from a backup")
    return found


async def project_days(conn: Conn, project_id: UUID, *, days: int) -> list[ProjectDay]:
    """Return the results of a project's mail on each of the last days, oldest first."""
    return await many(conn, sql.LIST_PROJECT_DAYS, {"id": project_id, "days": days}, ProjectDay)


async def project_bounds(conn: Conn, project_id: UUID | None) -> list[BoundUsage]:
    """Read what a project, or (None) each that is not deleted, uses of its bounds."""
    return await many(conn, sql.LIST_PROJECT_BOUNDS, {"id": project_id}, BoundUsage)
