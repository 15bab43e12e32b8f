"""Decides whom mail is from when it does not say: the account, else the project, else this host."""

import socket

from mailqueue.core.address import InvalidAddress, Mailbox, parse_address
from mailqueue.core.errors import NotFound
from mailqueue.db.fetch import Conn
from mailqueue.senders import store
from mailqueue.senders.model import SenderAccount

LAST_RESORT = "mailqueue@localhost.localdomain"


async def get(conn: Conn, account_id: int) -> SenderAccount:
    """Give one account by its id.

    Raises:
        NotFound: there is no such account.
    """
    found = await store.find_by_id(conn, account_id)
    if found is None:
        raise NotFound("sender account", account_id)
    return found


async def default_from(conn: Conn, account: SenderAccount) -> Mailbox:
    """Give the From of mail that names none. There is always one: mail must have it."""
    if account.email is not None:
        return Mailbox(account.display_name or "", parse_address(account.email))
    project = await store.read_project_from(conn, account.project_id)
    if project.from_email is not None:
        return Mailbox(project.from_name or "", parse_address(project.from_email))
    try:
        return Mailbox("", parse_address(f"mailqueue@{socket.getfqdn()}"))
    except InvalidAddress:
        return Mailbox("", parse_address(LAST_RESORT))
