"""Binds logins of producers to projects: a bound login cannot enqueue for any other project."""

from collections.abc import Sequence

from mailqueue.contract.projects import BoundProducer
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.projects.producers import store


async def list_all(conn: Conn) -> list[BoundProducer]:
    """Return the bound logins by name."""
    return await store.list_producers(conn)


async def bind(conn: Conn, login: str, projects: Sequence[str], *, by: str) -> BoundProducer:
    """Bind a login to projects, beside those it is bound to already; return it.

    Raises:
        InvalidField: the server has no such login, or there is no such project.
    """
    async with conn.transaction():
        await store.bind(conn, login, projects, by=by)
        return next(each for each in await list_all(conn) if each.login == login)


async def unbind(
    conn: Conn, login: str, projects: Sequence[str] | None, *, by: str
) -> BoundProducer | None:
    """Unbind a login from projects, None: from all; return it if it is still bound to others.

    Raises:
        InvalidField: there is no such project.
        NotFound: the login is not bound to any of them.
    """
    async with conn.transaction():
        if await store.unbind(conn, login, projects, by=by) == 0:
            raise NotFound("bound login", login)
        return next((each for each in await list_all(conn) if each.login == login), None)
