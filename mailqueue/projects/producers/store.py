"""The statements of bound logins."""

from collections.abc import Sequence

from mailqueue.contract.projects import BoundProducer
from mailqueue.db.fetch import Conn, many, run, value
from mailqueue.db.refusals import refusals
from mailqueue.db.statements.projects import producers as sql


async def list_producers(conn: Conn) -> list[BoundProducer]:
    """Return the bound logins by name."""
    return await many(conn, sql.LIST_PRODUCERS, None, BoundProducer)


async def bind(conn: Conn, login: str, projects: Sequence[str], *, by: str) -> None:
    """Bind a login to projects.

    Raises:
        InvalidField: the server has no such login, or there is no such project.
    """
    with refusals(otherwise=""):
        await run(conn, sql.BIND_PRODUCER, {"login": login, "projects": list(projects), "by": by})


async def unbind(conn: Conn, login: str, projects: Sequence[str] | None, *, by: str) -> int:
    """Unbind a login from projects, None: from all; return from how many.

    Raises:
        InvalidField: there is no such project.
    """
    asked = {"login": login, "projects": None if projects is None else list(projects), "by": by}
    with refusals(otherwise=""):
        return await value(conn, sql.UNBIND_PRODUCER, asked, int)
