"""Create, change, suspend and delete projects."""

from collections.abc import Mapping
from uuid import UUID

from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.projects import store
from mailqueue.projects.model import Project

STATUSES = ("active", "paused", "suspended", "deleted")
MAX_LISTED = 10_000


async def add(
    conn: Conn, name: str, *, by: str, settings: Mapping[str, object] | None = None
) -> Project:
    """Create a project; `settings` as `change` takes them.

    Raises:
        Conflict: a project has or had that name.
        InvalidField: the name or a setting is invalid.
    """
    if (taken := await store.read_project(conn, name)) is not None:
        since = f", deleted at {taken.deleted_at:%Y-%m-%d %H:%M} UTC" if taken.deleted_at else ""
        raise Conflict(f"there is a project {name} already{since}")
    project_id = await store.add_project(conn, name, settings=settings or {}, by=by)
    return await find_by_id(conn, project_id)


async def find(conn: Conn, name: str) -> Project:
    """Return a project, including a deleted one.

    Raises:
        NotFound: there is no project of that name.
    """
    found = await store.read_project(conn, name)
    if found is None:
        raise NotFound("project", name)
    return found


async def find_by_id(conn: Conn, project_id: UUID) -> Project:
    """Return a project, including a deleted one.

    Raises:
        NotFound: there is no project with that id.
    """
    found = await store.read_project(conn, project_id=project_id)
    if found is None:
        raise NotFound("project", project_id)
    return found


async def list_all(conn: Conn) -> list[Project]:
    """Return the projects by name, without deleted ones."""
    return await list_page(conn, limit=MAX_LISTED)


async def list_page(
    conn: Conn,
    *,
    after: str | None = None,
    status: str | None = None,
    text: str | None = None,
    limit: int,
) -> list[Project]:
    """Return projects by name, after the name `after`.

    `status` None returns all but deleted ones. `text` is searched in the project's names.
    """
    if status is not None and status not in STATUSES:
        raise InvalidField("status", f"must be one of {', '.join(STATUSES)}, got {status!r}")
    return await store.list_projects(conn, after=after, status=status, text=text, limit=limit)


async def change(conn: Conn, name: str, *, changes: Mapping[str, object], by: str) -> Project:
    """Change settings of a project; None resets one.

    Raises:
        NotFound: there is no such project.
        InvalidField: the setting named is invalid; nothing is changed.
    """
    await find(conn, name)
    await store.change_project(conn, name, changes=changes, by=by)
    return await find(conn, name)


async def suspend(conn: Conn, name: str, *, reason: str, by: str) -> Project:
    """Suspend a project: its mail is accepted and not sent.

    Raises:
        NotFound: there is no such project.
        Conflict: it is deleted.
        InvalidField: the reason is missing or too long.
    """
    if (await find(conn, name)).deleted_at is not None:
        raise Conflict(f"project {name} is deleted")
    await store.suspend_project(conn, name, reason=reason, by=by)
    return await find(conn, name)


async def activate(conn: Conn, name: str, *, by: str) -> Project:
    """Activate a suspended, paused or deleted project; its queued mail is sent.

    Revoked keys stay revoked: deleting a project revokes all of them.

    Raises:
        NotFound: there is no such project.
    """
    await find(conn, name)
    await store.activate_project(conn, name, by=by)
    return await find(conn, name)


async def delete(conn: Conn, name: str, *, by: str) -> Project:
    """Mark a project as deleted: it accepts and sends no mail, and its keys are revoked.

    Its records stay, and its name cannot be used again.

    Raises:
        NotFound: there is no such project.
        Conflict: it is `default`, which takes mail that names no project.
    """
    await find(conn, name)
    try:
        await store.delete_project(conn, name, by=by)
    except InvalidField as exc:
        raise Conflict(exc.why) from exc
    return await find(conn, name)
