"""Projects as rows, and their audit; the only file here that runs SQL, beside that of keys."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

from psycopg.errors import InvalidParameterValue
from psycopg.types.json import Jsonb

from mailqueue.contract.projects import AuditEvent
from mailqueue.core.errors import InvalidField
from mailqueue.core.mailboxes import with_wire_domains
from mailqueue.db.fetch import Conn, many, maybe, one, run, value
from mailqueue.tenants.model import (
    Project,
    ProjectDay,
    ProjectToday,
)


async def add_project(conn: Conn, name: str, *, settings: Mapping[str, object], by: str) -> UUID:
    """Make a project.

    Raises:
        InvalidField: the name is none, or taken; or a setting is wrong.
    """
    with refused():
        params = {"name": name, "settings": Jsonb(with_wire_domains(settings)), "by": by}
        return await value(conn, "add_project", params, UUID)


async def read_project(
    conn: Conn, name: str | None = None, *, project_id: UUID | None = None
) -> Project | None:
    """Read the project of that name or id."""
    return await maybe(conn, "read_project", {"name": name, "id": project_id}, Project)


async def list_projects(
    conn: Conn, *, after: str | None, status: str | None, text: str | None, most: int
) -> list[Project]:
    """Read a page of projects; `status` None: all but deleted ones."""
    params = {"after": after, "status": status, "text": text, "most": most}
    return await many(conn, "list_projects", params, Project)


async def change_project(conn: Conn, name: str, *, changes: Mapping[str, object], by: str) -> None:
    """Change settings of a project.

    Raises:
        InvalidField: naming the setting; nothing is changed.
    """
    with refused():
        await run(
            conn,
            "change_project",
            {"name": name, "changes": Jsonb(with_wire_domains(changes)), "by": by},
        )


async def suspend_project(conn: Conn, name: str, *, reason: str, by: str) -> bool:
    """Suspend a project; False where it was for that reason.

    Raises:
        InvalidField: there is no reason, or the project is deleted.
    """
    with refused():
        params = {"name": name, "reason": reason, "by": by}
        return await value(conn, "suspend_project", params, bool)


async def activate_project(conn: Conn, name: str, *, by: str) -> bool:
    """Let a project send again; False where it may."""
    return await value(conn, "activate_project", {"name": name, "by": by}, bool)


async def delete_project(conn: Conn, name: str, *, by: str) -> bool:
    """Delete a project softly; False where it was.

    Raises:
        InvalidField: it is one that must stay.
    """
    with refused():
        return await value(conn, "delete_project", {"name": name, "by": by}, bool)


async def project_today(conn: Conn, project_id: UUID) -> ProjectToday:
    """Read what a project sent today and may still send."""
    return await one(conn, "read_project_today", {"id": project_id}, ProjectToday)


async def project_days(conn: Conn, project_id: UUID, *, days: int) -> list[ProjectDay]:
    """Read what became of a project's mail on each of the last days, oldest first."""
    return await many(conn, "list_project_days", {"id": project_id, "days": days}, ProjectDay)


async def list_audit(
    conn: Conn, *, project_id: UUID | None, action: str | None, before: int | None, most: int
) -> list[AuditEvent]:
    """Read changes, newest first; `project_id` None: of all projects and the installation."""
    params = {"project_id": project_id, "action": action, "before": before, "most": most}
    return await many(conn, "list_audit", params, AuditEvent)


@contextmanager
def refused() -> Iterator[None]:
    """Word a refusal of the database as ours."""
    try:
        yield
    except InvalidParameterValue as exc:
        field = exc.diag.column_name or ""
        why = (exc.diag.message_primary or str(exc)).removeprefix(f"{field}: ")
        raise InvalidField(field, why) from exc
