"""Makes projects and changes what holds for all their mail."""

from collections.abc import Mapping

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.tenants import store
from mailqueue.tenants.model import Project


async def add(conn: Conn, name: str, *, by: str) -> Project:
    """Make a project.

    Raises:
        InvalidField: the name is none, or taken.
    """
    await store.add_project(conn, name, by=by)
    return await find(conn, name)


async def find(conn: Conn, name: str) -> Project:
    """Give a project.

    Raises:
        NotFound: there is none of that name.
    """
    found = await store.read_project(conn, name)
    if found is None:
        raise NotFound("project", name)
    return found


async def list_all(conn: Conn) -> list[Project]:
    """List the projects by name."""
    return await store.list_projects(conn)


async def change(conn: Conn, name: str, *, changes: Mapping[str, object], by: str) -> Project:
    """Change settings of a project; None takes one back.

    Raises:
        NotFound: there is no such project.
        InvalidField: naming the setting and what was wrong; nothing is changed.
    """
    await find(conn, name)
    await store.change_project(conn, name, changes=changes, by=by)
    return await find(conn, name)
