"""The projects that a user of the console sees, and the tokens of forms."""

from uuid import UUID

from mailqueue.admin.users import store
from mailqueue.admin.users.model import SeenProject
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn


async def list_projects(
    conn: Conn, user: UUID, *, text: str | None = None, after: str | None = None, limit: int
) -> list[SeenProject]:
    """Return the projects that a user sees, by name, after the name `after`."""
    return await store.list_projects(conn, user, text=text, after=after, limit=limit)


async def project(conn: Conn, user: UUID, name: str) -> SeenProject:
    """Return a project that a user sees.

    Raises:
        NotFound: there is no such project, or the user does not see it.
    """
    found = await store.find_project(conn, user, name)
    if found is None:
        raise NotFound("project", name[:100])
    return found


async def take_action(conn: Conn, token_hash: bytes, *, form: str | None = None) -> bool:
    """Use up the token of a form in the caller's transaction; return False if it was used.

    Transactions that name the same `form` wait for each other.
    """
    return await store.take_action(conn, token_hash, form)
