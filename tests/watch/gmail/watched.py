"""Inboxes at Gmail for tests, and workers that scan them."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import UUID

from mailqueue.adapters.mailboxes.gmail.reader import GmailReader
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.ports.mailbox import ConsentedInbox
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import gmail
from mailqueue.watch.model import PendingConsent
from tests import make
from tests.watch import watching
from tests.watch.fake_gmail import ADDRESS, FakeGmail
from tests.webhooks.delivering import LOOPBACK, master

ERROR = "SELECT last_error FROM mailqueue.mailboxes WHERE id = %s"


async def watched(
    conn: Conn, *, token: str = "refresh-0", labels: tuple[str, ...] = ("INBOX",)
) -> UUID:
    """Watch an inbox at Gmail of a person with a channel; return its id."""
    owner = await watching.user(conn)
    await watching.channel(conn, owner)
    project_id = await make.project_named(conn)
    pending = PendingConsent(project_id, owner, ADDRESS, labels, gmail.WEBMAIL_URL, 30)
    consented = ConsentedInbox(ADDRESS, Secret(token))
    made = await gmail.connect(conn, pending, consented, master=master(), by="tests")
    return made.id


@asynccontextmanager
async def scanning(
    server: FakeGmail,
    database: DatabaseSettings,
    *,
    topic: str | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncIterator[None]:
    """Run a worker that scans inboxes at Gmail during the block."""
    reader = GmailReader(server.client, LOOPBACK, topic=topic, clock=clock)
    async with watching.scanning(database, {"gmail": reader}):
        yield


async def failing(conn: Conn, inbox_id: UUID, words: str) -> None:
    """Scan an inbox, and wait for an error with these words."""
    query = "UPDATE mailqueue.mailboxes SET run_at = now() WHERE id = %s AND status = 'pending'"
    await conn.execute(query, (inbox_id,))

    async def has_failed() -> bool:
        return words in str(await make.scalar(conn, ERROR, inbox_id))

    await watching.wait(has_failed, f"the error {words}")
