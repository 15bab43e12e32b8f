"""The sender account that a path names."""

from mailqueue.console.frame.context import PageContext
from mailqueue.console.frame.rendering import project_path
from mailqueue.core.errors import NotFound
from mailqueue.core.providers import Provider
from mailqueue.db.fetch import Conn
from mailqueue.senders import changing
from mailqueue.senders.model import SenderAccount

PATH = "/console/projects/{project}/senders"
SENDER = f"{PATH}/{{sender}}"


async def account_in_path(context: PageContext, conn: Conn) -> SenderAccount:
    """Return the account of the path; the trap has no page.

    Raises:
        NotFound: the project has no such account.
    """
    sender_id = context.id_in_path("sender", "sender account")
    found = await changing.named(conn, context.seen.name, name=str(sender_id))
    if found.provider is Provider.TRAP:
        raise NotFound("sender account", str(sender_id))
    return found


def path_of(context: PageContext, account: SenderAccount, *, done: str) -> str:
    """Return the path of the page of an account that says what was done."""
    return project_path(context.seen.name, "senders", account.public_id, done=done)
