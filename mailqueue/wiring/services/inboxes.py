"""The listener that waits for new mail of watched inboxes by IMAP IDLE."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.mailboxes.idle import ImapIdle
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import borrow
from mailqueue.vault.masterkey import master_key_of
from mailqueue.watch.hearing import HearingTools, InboxListener
from mailqueue.wiring.services.running import ListeningService, ServiceContext


@asynccontextmanager
async def idle(context: ServiceContext) -> AsyncIterator[ListeningService]:
    """Listen to inboxes until the block ends."""
    settings, stop = context.settings, asyncio.Event()

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with borrow(context.pool, settings.database) as conn:
            yield conn

    hearing = ImapIdle(NetworkPolicy(allowed_networks=settings.allowed_hosts))
    tools = HearingTools(hearing, partial(master_key_of, settings), lend)
    work = asyncio.create_task(InboxListener(tools).run(stop), name="idle")
    if not context.is_in_up:  # without its work the process ends
        work.add_done_callback(lambda _: context.stop.set())
    try:
        yield ListeningService(is_running=lambda: not work.done())
    finally:
        stop.set()
        await work
