"""A custom SMTP server of one mail, its sending, and what is stored afterwards."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Any

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn, Lend
from mailqueue.db.pool import connect
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.mail.custom_smtp.send_now import SentNow, send_now
from mailqueue.senders.custom_smtp import custom_smtp_server
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring import sending
from tests import make
from tests.smtp.client.scripted import ScriptedServer, scripted

USER, PASSWORD = "canary-user-7f3a", "canary-password-91bc"
LOOPBACK = (ip_network("127.0.0.1/32"),)
FROM = {"from_email": "shop@example.com"}
LOGIN_EHLO = ("AUTH PLAIN LOGIN", "8BITMIME")


def mail(recipient: str = "ann@example.com", **options: Any) -> NewEmail:
    return NewEmail(recipient, "Hello", text="Hi Ann", options=FROM | options)


class CustomSmtp:
    """Sends mail of the default project through one server."""

    def __init__(self, database: DatabaseSettings, port: int, conn: Conn) -> None:
        self.port = port
        self.conn = conn
        self.lend: Lend = lambda: connect(database)

    async def send(self, email: NewEmail, *, deadline_s: float = 20.0, **of: Any) -> SentNow:
        server = custom_smtp_server(
            host=of.get("host", "127.0.0.1"),
            port=self.port,
            tls="none",
            username=Secret(USER),
            password=Secret(PASSWORD),
        )
        return await send_now(
            self.lend,
            email,
            project=of.get("project", "default"),
            transport=sending.custom_smtp_transport(
                server, allowed_hosts=of.get("allowed", LOOPBACK)
            ),
            hidden=server.hidden,
            deadline_s=deadline_s,
        )

    async def status(self, done: SentNow) -> str | None:
        return await make.status_of(self.conn, done.id)

    async def logs(self) -> list[tuple[Any, ...]]:
        query = "SELECT status, error_code, sender_account_id FROM mailqueue.send_logs ORDER BY id"
        return await make.rows(self.conn, query)

    async def counts(self) -> tuple[int, int]:
        """Return the recipients that the project's limit counts as sent and as reserved."""
        query = (
            "SELECT c.sent, c.reserved FROM mailqueue.limits AS m"
            " JOIN mailqueue.limit_counters AS c ON c.limit_id = m.id"
            " WHERE m.project_id = %s AND m.sender_account_id IS NULL ORDER BY c.rev DESC LIMIT 1"
        )
        [found] = await make.rows(self.conn, query, await make.project_named(self.conn))
        return found[0], found[1]

    async def is_sound(self) -> bool:
        """Assert that no worker, reservation or missing mail is left."""
        left = "SELECT count(*) FROM mailqueue.workers WHERE stopped_at IS NULL AND lost_at IS NULL"
        wrong = "SELECT count(*) FROM mailqueue.wrong_reservations()"
        books = "SELECT count(*) FROM mailqueue.books WHERE difference <> 0"
        return [await make.scalar(self.conn, each) for each in (left, wrong, books)] == [0, 0, 0]

    async def everything(self) -> str:
        """Return all rows of the database as text."""
        names = await make.rows(
            self.conn,
            "SELECT c.oid::regclass::text FROM pg_class AS c"
            " WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p')",
        )
        rows = [await make.rows(self.conn, f"SELECT t::text FROM {name} AS t") for (name,) in names]
        return str(rows)


@asynccontextmanager
async def custom_smtp(
    database: DatabaseSettings, **answers: Any
) -> AsyncIterator[tuple[CustomSmtp, ScriptedServer]]:
    async with (
        scripted(ehlo=answers.pop("ehlo", LOGIN_EHLO), **answers) as server,
        connect(database) as conn,
    ):
        yield CustomSmtp(database, server.port, conn), server
