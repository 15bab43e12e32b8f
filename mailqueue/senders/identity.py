"""Default sender addresses, reply addresses and bounce addresses of mail."""

import socket
from dataclasses import replace

from mailqueue.core.address import InvalidAddress, Mailbox, parse_address, parse_mailbox
from mailqueue.core.errors import NotFound
from mailqueue.core.providers import Provider
from mailqueue.db.fetch import Conn
from mailqueue.senders.model import MailDefaults, ProjectFrom, SenderAccount
from mailqueue.senders.store import accounts as accounts_store

LAST_RESORT = "mailqueue@localhost.localdomain"


async def get(conn: Conn, account_id: int) -> SenderAccount:
    """Return one account by its id.

    Raises:
        NotFound: there is no such account.
    """
    found = await accounts_store.find_by_id(conn, account_id)
    if found is None:
        raise NotFound("sender account", account_id)
    return found


async def mail_defaults_of(conn: Conn, account: SenderAccount) -> MailDefaults:
    """Return the default From, Reply-To and bounce address of an account."""
    project = await accounts_store.read_project_from(conn, account.project_id)
    return MailDefaults(
        _sender(account, project),
        None if project.reply_to is None else parse_mailbox(project.reply_to),
        None if project.bounce_address is None else parse_address(project.bounce_address),
        None
        if account.provider.has_api
        else project.bounce_domain,  # APIs have bounce domains of their own
    )


async def with_project_defaults(conn: Conn, account: SenderAccount) -> SenderAccount:
    """Return the account; without an address of its own, with the project's."""
    if account.email is not None:
        return account
    project = await accounts_store.read_project_from(conn, account.project_id)
    return replace(account, email=project.from_email, display_name=project.from_name)


def _sender(account: SenderAccount, project: ProjectFrom) -> Mailbox:
    """Return the account's address, else the project's, else one at this host: a mail needs a
    sender.

    The trap's own address is not used, so that trapped mail shows its real sender.
    """
    of_account = (account.email, account.display_name)
    of_project = (project.from_email, project.from_name)
    is_trap = account.provider is Provider.TRAP
    for email, name in (of_project, of_account) if is_trap else (of_account, of_project):
        if email is not None:
            return Mailbox(name or "", parse_address(email))
    try:
        return Mailbox("", parse_address(f"mailqueue@{socket.getfqdn()}"))
    except InvalidAddress:
        return Mailbox("", parse_address(LAST_RESORT))
