"""Ids of projects by their names."""

from uuid import UUID

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn, maybe
from mailqueue.db.statements.projects import projects as sql


async def find_project_id(conn: Conn, name: str) -> UUID | None:
    """Return the id of a project; None if there is no project of that name."""
    return await maybe(conn, sql.FIND_PROJECT_ID, {"project": name}, UUID)


async def project_id_of(conn: Conn, name: str) -> UUID:
    """Return the id of a project.

    Raises:
        NotFound: there is no project of that name.
    """
    found = await find_project_id(conn, name)
    if found is None:
        raise NotFound("project", name[:100])
    return found
