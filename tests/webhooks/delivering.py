"""A database with endpoints and events, and a worker that the test runs step by step."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from typing import Any
from uuid import UUID, uuid4

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.http.poster import HttpPoster
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.process import Kind, run_queues
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import MasterKey, parse_master_key
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.handler import WebhookHandler, WebhookTools
from mailqueue.webhooks.signing import key_of, secret_of
from tests import make
from tests.api.support.wired import MASTER
from tests.stream.reading import read_stream

LOOPBACK = NetworkPolicy(allowed_networks=(ip_network("127.0.0.0/8"), ip_network("::1/128")))
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PATIENCE = 60.0
"""Limit of a test's wait, in seconds."""


def master() -> MasterKey:
    return parse_master_key(MASTER, source="tests")


def key() -> bytes:
    return key_of(secret_of(SECRET))


def tools(*, total_s: float = 15.0, reach: NetworkPolicy = LOOPBACK) -> WebhookTools:
    return WebhookTools(HttpPoster(reach, total_s=total_s), master)


async def webhook(
    conn: Conn,
    url: str,
    *,
    project_id: UUID | None = None,
    event_types: Sequence[str] = (),
    secret: str = SECRET,
) -> UUID:
    """Register an endpoint of the default project."""
    added = await endpoints.add(
        conn,
        project_id or await make.project_named(conn),
        url=url,
        event_types=[*event_types],
        description=None,
        secret=secret,
        allowed=LOOPBACK.allowed_networks,
        master=master(),
        by="tests",
    )
    return added.webhook.id


async def told(
    conn: Conn,
    count: int = 1,
    *,
    kind: str = "delivered",
    project_id: UUID | None = None,
    email_id: UUID | None = None,
    is_read: bool = True,
) -> None:
    """Record events of one mail, or of mails that are gone, in one statement.

    `is_read`: consumers of the stream have handled them when this returns.
    """
    await conn.execute(
        "INSERT INTO mailqueue.email_events (project_id, email_id, type, recipient_email)"
        " SELECT %s, coalesce(%s, gen_random_uuid()), %s, 'ann@example.com'"
        " FROM generate_series(1, %s)",
        (project_id or await make.project_named(conn), email_id, kind, count),
    )
    if is_read:
        await read_stream(conn)


async def states(conn: Conn, webhook_id: UUID) -> list[str]:
    """Return the states of a webhook's deliveries."""
    return [
        row[0]
        for row in await make.rows(
            conn,
            "SELECT status FROM mailqueue.webhook_deliveries WHERE webhook_id = %s ORDER BY id",
            webhook_id,
        )
    ]


async def due_now(conn: Conn) -> None:
    """Make waiting deliveries and open circuits due."""
    await conn.execute(
        "UPDATE mailqueue.webhook_deliveries SET run_at = now() - interval '1 s'"
        " WHERE status = 'pending'"
    )
    await conn.execute(
        "UPDATE mailqueue.queue_keys SET blocked_until = now(), probing_until = NULL"
        " WHERE blocked_until IS NOT NULL OR probing_until IS NOT NULL"
    )


async def deliver(
    database: DatabaseSettings, made: WebhookTools, stop: asyncio.Event, *, in_flight: int = 128
) -> None:
    """Deliver until stopped."""
    spec = replace(queue_named("webhooks"), concurrency=in_flight)
    kinds = [Kind(spec, lambda: WebhookHandler(made))]
    await run_queues(database, kinds, stop, launch_id=uuid4(), in_progress=InProgress())


@asynccontextmanager
async def delivering(
    database: DatabaseSettings, *, in_flight: int = 128, **options: Any
) -> AsyncIterator[None]:
    """Run a worker during the block; it drains at the end."""
    stop = asyncio.Event()
    running = asyncio.create_task(deliver(database, tools(**options), stop, in_flight=in_flight))
    try:
        yield
    finally:
        if running.done():
            running.result()  # why it ended before its time
        stop.set()
        await running


async def until(condition: Callable[[], Awaitable[bool]], *, what: str = "") -> None:
    """Wait for a condition."""
    end = time.monotonic() + PATIENCE
    while not await condition():
        assert time.monotonic() < end, f"in vain: {what}"
        await asyncio.sleep(0.02)
