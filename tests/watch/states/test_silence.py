"""A server that has not answered for a day is an error, and a failed scan after a pause is none."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from mailqueue.adapters.mailboxes.imap import ImapReader
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import inboxes
from mailqueue.watch.inboxes import InboxAction
from mailqueue.watch.scanning import MIN_SILENT, ScanHandler, ScanTools
from tests import make
from tests.watch import watching
from tests.watch.fake_imap import FakeImap, fake_imap
from tests.watch.states.turning import Turner, turner
from tests.webhooks.delivering import LOOPBACK, master

pytestmark = pytest.mark.anyio
SCAN = "UPDATE mailqueue.mailboxes SET run_at = now() WHERE id = %s AND status = 'pending'"
AGO = """
UPDATE mailqueue.mailboxes
   SET created_at = now() - %s::interval, updated_at = now() - %s::interval,
       last_scanned_at = now() - %s::interval
"""


@asynccontextmanager
async def silent(database: DatabaseSettings, conn: Conn) -> AsyncIterator[tuple[UUID, Turner]]:
    """Watch an inbox that was scanned once, and whose server answers no more."""
    server: FakeImap
    handler = ScanHandler(ScanTools({"imap": ImapReader(LOOPBACK)}, master))
    async with fake_imap() as server, turner(database, "inboxes", handler) as worker:
        inbox_id = await watching.inbox(conn, await watching.user(conn), server.port)
        await worker.turn()
        server.instead["STATUS"] = b"TAG BYE\r\n"
        yield inbox_id, worker


async def scanned(conn: Conn, inbox_id: UUID, worker: Turner, times: int) -> str:
    """Scan an inbox so many times; return its state."""
    for _ in range(times):
        await conn.execute(SCAN, (inbox_id,))
        await worker.turn()
    return (await inboxes.get(conn, await make.project_named(conn), inbox_id)).status


@pytest.mark.parametrize(
    ("ago", "times", "state"),
    [
        ("25 h", MIN_SILENT - 1, "active"),  # such as after workers were stopped
        ("25 h", MIN_SILENT, "error"),
        ("23 h", MIN_SILENT + 2, "active"),
    ],
)
async def test_a_server_that_has_not_answered_for_a_day_is_an_error(
    database: DatabaseSettings, ago: str, times: int, state: str
) -> None:
    async with connect(database) as conn, silent(database, conn) as (inbox_id, worker):
        await conn.execute(AGO.encode(), (ago, ago, ago))
        assert await scanned(conn, inbox_id, worker, times) == state
        found = await inboxes.get(conn, await make.project_named(conn), inbox_id)
        assert ("has not answered for a day" in str(found.last_error)) == (state == "error")


@pytest.mark.parametrize("by", ["resume", "reconnect"])
async def test_an_inbox_that_was_resumed_or_reconnected_has_a_day_again(
    database: DatabaseSettings, by: str
) -> None:
    async with connect(database) as conn, silent(database, conn) as (inbox_id, worker):
        project_id = await make.project_named(conn)
        await inboxes.switch(conn, project_id, inbox_id, InboxAction.PAUSE, by="tests")
        await conn.execute(AGO.encode(), ("9 d", "9 d", "9 d"))
        if by == "resume":
            await inboxes.switch(conn, project_id, inbox_id, InboxAction.RESUME, by="tests")
        else:
            password = Secret("secret")
            await inboxes.reconnect(
                conn, project_id, inbox_id, password=password, master=master(), by="tests"
            )
        assert await scanned(conn, inbox_id, worker, MIN_SILENT + 1) == "active"
