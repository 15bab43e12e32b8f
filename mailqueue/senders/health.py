"""Health of sender accounts: circuit, recent failures, and what to do about them."""

from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.senders import accounts
from mailqueue.senders.model import SenderHealth
from mailqueue.senders.store import accounts as accounts_store


async def of_account(conn: Conn, project: str, *, name: str) -> SenderHealth:
    """Return the health of one account.

    Raises:
        NotFound: there is no such project, or no such account in it.
    """
    found = await accounts_store.list_health(conn, project, name=name)
    if not found:
        await accounts.find(conn, project, name=name)  # raises NotFound for the one that is missing
        raise NotFound("sender account", f"{name} in project {project}")
    return found[0]


async def of_all(conn: Conn, *, project: str | None = None) -> list[SenderHealth]:
    """Return the health of a project's accounts; None: of every project."""
    return await accounts_store.list_health(conn, project)
