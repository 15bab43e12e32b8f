"""Mail with a custom SMTP server."""

from collections.abc import Sequence
from uuid import UUID, uuid4

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.mail.custom_smtp.queued import queue_for
from mailqueue.projects.model import Caller
from mailqueue.senders.custom_smtp import custom_smtp_server
from mailqueue.vault.masterkey import parse_master_key
from tests.api.support.wired import MASTER
from tests.mail.custom_smtp.sending import mail


async def queue_with_servers(
    conn: Conn, smtp_port: int, project: UUID, name: str, count: int
) -> None:
    """Queue mail with a custom SMTP server."""
    server = custom_smtp_server(
        host="127.0.0.1",
        port=smtp_port,
        tls="none",
        username=Secret(""),
        password=Secret(""),
    )
    caller = Caller(uuid4(), project, name, is_test=False, trap_sender=None)
    key = parse_master_key(MASTER, source="tests")
    for n in range(count):
        async with conn.transaction():
            email = mail(f"person{n}@example.com")
            await queue_for(conn, email, server, caller=caller, master=key)


async def relays(conn: Conn, smtp_port: int, projects: Sequence[UUID]) -> None:
    """Add a sender account to each project."""
    await conn.execute(
        "INSERT INTO mailqueue.sender_accounts"
        " (project_id, name, email, smtp_host, smtp_port, smtp_tls, is_private_ok, daily_limit)"
        " SELECT p, 'relay', 'shop@example.com', '127.0.0.1', %s, 'none', true, 100000"
        " FROM unnest(%s::uuid[]) AS p",
        (smtp_port, list(projects)),
    )
