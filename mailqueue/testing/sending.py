"""Sends what is due as a send worker does, with messages that stay in memory."""

import asyncio
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID, uuid4

from mailqueue.core.errors import ConfigError
from mailqueue.core.secret import Secret
from mailqueue.db import fetch
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.db.statements import testing as sql
from mailqueue.mail.send.context import SendAccount, SendWorkerSettings
from mailqueue.mail.send.worker import SendWorker
from mailqueue.senders import identity
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.testing.installation import is_installed
from mailqueue.testing.memory_transport import MemoryTransport, SentEmail

PATIENCE_SECONDS = 10.0
"""Time without a sent email after which those that are due are given up."""
_POLL_SECONDS = 0.02


class NotSent(AssertionError):
    """An email is due and is not sent; the message says why."""


class Unsent(NamedTuple):
    """The first email that is due or being sent."""

    id: UUID
    recipient: str
    why: str
    unsent: int


def drain(url: str) -> list[SentEmail]:
    """Send all email of a test database that is committed and due; return it in order of sending.

    Each email takes the path of production: lanes and limits, suppression, templates, tracking and
    building. Only the server is missing: every message is accepted, and recorded as sent. Email
    with a custom SMTP server is left out.

    Raises:
        ConfigError: the database was not prepared by `install`.
        NotSent: email that is due waits for something else, such as a limit.
        Unavailable: the database cannot be reached.
    """
    return asyncio.run(drain_async(url))


async def drain_async(url: str) -> list[SentEmail]:
    """Send as `drain` does, in a running event loop."""
    settings = DatabaseSettings(Secret(url))
    sent: list[SentEmail] = []

    async def read_account(conn: Conn, account_id: int) -> SendAccount:
        account = await identity.get(conn, account_id)
        return SendAccount(
            id=account.id,
            revision=account.revision,
            identity=await identity.mail_defaults_of(conn, account),
            max_connections=account.max_connections,
            send_delay=timedelta(),
            transport=MemoryTransport(account.name, sent),
        )

    async with connect(settings, application_name="mailqueue/testing") as conn:
        if not await is_installed(conn):
            raise ConfigError(
                "this database was not prepared by mailqueue.testing.install(), and its mail would "
                "be recorded as sent without being sent"
            )
        stop = asyncio.Event()
        worker = SendWorker(
            settings, SendWorkerSettings(), launch_id=uuid4(), read_account=read_account
        )
        working = asyncio.create_task(worker.run(stop))
        try:
            left = await _left(conn, sent, working)
        finally:
            stop.set()
            await working
    if left is not None:
        raise NotSent(
            f"{left.unsent} due and not sent; email {left.id} to {left.recipient}: {left.why}"
        )
    return sent


async def _left(conn: Conn, sent: list[SentEmail], working: asyncio.Task[bool]) -> Unsent | None:
    """Return the first email that is not sent for a time; None once nothing is due."""
    loop = asyncio.get_running_loop()
    count, since = -1, loop.time()
    while True:
        left = await fetch.maybe(conn, sql.NEXT_UNSENT, {}, Unsent)
        if left is None:
            return None
        if len(sent) != count:
            count, since = len(sent), loop.time()
        elif working.done() or loop.time() - since > PATIENCE_SECONDS:
            return left
        await asyncio.sleep(_POLL_SECONDS)
