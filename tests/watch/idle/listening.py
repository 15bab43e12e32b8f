"""A process that listens to inboxes, for tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from mailqueue.adapters.mailboxes.idle import ImapIdle
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch.hearing import HearingTools, InboxListener
from tests import make
from tests.watch import watching
from tests.webhooks.delivering import LOOPBACK, master

STATE = "SELECT state FROM mailqueue.inbox_listeners WHERE mailbox_id = %s"
DUE = "SELECT run_at <= now() FROM mailqueue.mailboxes WHERE id = %s"
LATER = "UPDATE mailqueue.mailboxes SET run_at = now() + interval '1 h' WHERE id = %s"


@asynccontextmanager
async def listening(
    database: DatabaseSettings, *, room: int = 100, hearing: Any = None
) -> AsyncIterator[InboxListener]:
    """Run a listener during the block."""

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with connect(database) as conn:
            yield conn

    tools = HearingTools(hearing or ImapIdle(LOOPBACK), master, lend)
    listener, stop = InboxListener(tools, room=room), asyncio.Event()
    running = asyncio.create_task(listener.run(stop))
    try:
        yield listener
        if running.done():
            running.result()
    finally:
        stop.set()
        await running


async def heard(conn: Conn, inbox_id: UUID, state: str = "listening") -> None:
    """Wait for a state of the connection of an inbox."""

    async def has() -> bool:
        return await make.rows(conn, STATE, inbox_id) == [(state,)]

    await watching.wait(has, f"state {state}")


async def due(conn: Conn, inbox_id: UUID) -> None:
    """Wait until an inbox is due."""

    async def is_due() -> bool:
        return bool(await make.scalar(conn, DUE, inbox_id))

    await watching.wait(is_due, "a scan that is due")


async def quiet(conn: Conn, inbox_id: UUID) -> None:
    """Make an inbox that was scanned due in an hour."""
    await conn.execute(
        "UPDATE mailqueue.mailboxes SET last_scanned_at = now() WHERE id = %s", (inbox_id,)
    )
    await conn.execute(LATER.encode(), (inbox_id,))


async def several(conn: Conn, port: int, count: int) -> list[UUID]:
    """Add persons with inboxes that were scanned."""
    made = []
    for number in range(count):
        _, inbox_id, _ = await watching.person(conn, number, port)
        await quiet(conn, inbox_id)
        made.append(inbox_id)
    return made
