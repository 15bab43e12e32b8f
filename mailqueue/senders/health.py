"""How sender accounts fare: their circuit, what failed lately, and what to do about it."""

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.senders import accounts
from mailqueue.senders.model import SenderHealth
from mailqueue.senders.store import accounts as accounts_store


async def of_account(conn: Conn, project: str, *, name: str) -> SenderHealth:
    """Return how one account fares.

    Raises:
        NotFound: there is no such project, or no such account in it.
    """
    found = await accounts_store.list_health(conn, project, name=name)
    if not found:
        await accounts.find(conn, project, name=name)  # says which of both is not there
        raise NotFound("sender account", f"{name} in project {project}")
    return found[0]


async def of_all(conn: Conn, *, project: str | None = None) -> list[SenderHealth]:
    """Return how accounts fare; None for those of every project."""
    return await accounts_store.list_health(conn, project)
