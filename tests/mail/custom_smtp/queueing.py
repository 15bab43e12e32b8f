"""Queued emails with a custom SMTP server, that server, and the worker that sends them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mailqueue.db.pool import connect
from mailqueue.mail.custom_smtp import store as custom_smtp_store
from mailqueue.mail.custom_smtp.handler import CustomSmtpHandler, CustomSmtpTools
from mailqueue.mail.message.file_storage import AttachmentStorage
from mailqueue.mail.message.tracking import EmailTracking
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import MasterKey
from mailqueue.wiring.sending import custom_smtp_transport
from tests import make
from tests.api.support.calling import HELLO, Calling, calling
from tests.mail.custom_smtp.sending import LOGIN_EHLO, LOOPBACK, PASSWORD, USER, CustomSmtp
from tests.queue.working import work_once
from tests.smtp.client.scripted import ScriptedServer, scripted

MASTER = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
KEY = MasterKey(b"01234567890123456789012345678901")


class Queued:
    """The API, a server, and a worker for mail that names the server."""

    def __init__(self, api: Calling, server: ScriptedServer) -> None:
        self.api = api
        self.server = server
        self.key = KEY

    @property
    def tools(self) -> CustomSmtpTools:
        """Return the adapters of a worker that may reach this machine."""
        return CustomSmtpTools(
            read_master=lambda: self.key,
            transport_of=lambda found: custom_smtp_transport(found, allowed_hosts=LOOPBACK),
            storage=AttachmentStorage(),
            tracking=EmailTracking(),
        )

    async def turn(
        self, *, is_alone: bool = False, of: type[CustomSmtpHandler] = CustomSmtpHandler
    ) -> int:
        """Sweep, claim and settle once; return the number of emails that were marked."""
        marked = "SELECT count(*) FROM mailqueue.workers WHERE kind = 'custom-smtp-mail'"
        before = int(await self.value(marked))
        await self.sweep()
        handler = of(self.api.database, self.tools)
        await work_once(self.api.database, "custom-smtp", handler, is_alone=is_alone)
        return int(await self.value(marked)) - before

    async def sweep(self) -> None:
        async with connect(self.api.database) as conn:
            await custom_smtp_store.sweep(conn)

    async def books(self) -> tuple[int, int]:
        """Return the recipients that the project's limit counts as sent and as reserved; check
        the books.
        """
        wrong = "SELECT count(*) FROM mailqueue.wrong_reservations()"
        books = "SELECT count(*) FROM mailqueue.books WHERE difference <> 0"
        assert [await self.value(wrong), await self.value(books)] == [0, 0]
        async with connect(self.api.database) as conn:
            return await CustomSmtp(self.api.database, 0, conn).counts()

    async def send(self, **changes: Any) -> str:
        server = {
            "host": "127.0.0.1",
            "port": self.server.port,
            "username": USER,
            "password": PASSWORD,
            "tls_mode": "none",
            "queue": True,
        }
        body = {**HELLO, "from_email": "hello@example.org", "smtp_override": server}
        answer = await self.api.send({**body, **changes})
        assert (answer.status_code, answer.json()["status"]) == (202, "queued"), answer.text
        found: str = answer.json()["id"]
        return found

    async def shown(self, email: str) -> dict[str, Any]:
        answer = await self.api.get(f"/v1/emails/{email}")
        found: dict[str, Any] = answer.json()
        return found

    async def kept(self) -> int:
        return int(await self.value("SELECT count(*) FROM mailqueue.custom_smtp_servers"))

    async def value(self, query: str, *params: object) -> Any:
        async with connect(self.api.database) as conn:
            return await make.scalar(conn, query, *params)

    async def do(self, statement: str) -> None:
        async with connect(self.api.database) as conn:
            await conn.execute(statement.encode())


@asynccontextmanager
async def queued(database: DatabaseSettings, **answers: Any) -> AsyncIterator[Queued]:
    async with (
        scripted(ehlo=LOGIN_EHLO, **answers) as server,
        calling(database, master_key=MASTER) as api,
    ):
        yield Queued(api, server)
