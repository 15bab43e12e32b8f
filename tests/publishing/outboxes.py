"""Outboxes and messages for tests, and a worker that publishes them."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

from mailqueue.adapters.http.poster import HttpPoster
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.publishing.handler import PublishingHandler
from mailqueue.publishing.webhook import WebhookPublisher
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.process import Kind, run_queues
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.adapters.sending.fake import Fake
from tests.webhooks.delivering import LOOPBACK, master


async def add(conn: Conn, name: str, webhook_id: UUID, *, project: str = "default") -> UUID:
    """Add an outbox that publishes to a webhook; return its id."""
    found: UUID = await make.scalar(
        conn,
        "SELECT mailqueue.add_outbox(p.id, %s, 'webhook', %s, 'tests')"
        " FROM mailqueue.projects AS p WHERE p.name = %s",
        name,
        str(webhook_id),
        project,
    )
    return found


async def publish(
    conn: Conn, number: int = 0, *, outbox: str = "default", message_id: UUID | None = None
) -> UUID:
    """Write a message; return its id."""
    found: UUID = await make.scalar(
        conn,
        "SELECT mailqueue.publish('OrderPlaced', %s, outbox => %s, message_id => %s)",
        f'{{"number": {number}}}',
        outbox,
        message_id,
    )
    return found


def events(server: Fake) -> list[dict[str, Any]]:
    """Return the events that an endpoint received, in that order."""
    return [request.json for request in server.requests]


def arrived(server: Fake) -> dict[str, list[UUID]]:
    """Return the ids of the messages that an endpoint received, by outbox and in that order."""
    found = defaultdict[str, list[UUID]](list)
    for event in events(server):
        found[event["source"].rpartition("/")[2]].append(UUID(event["id"]))
    return found


async def numbers(conn: Conn) -> list[UUID]:
    """Return the ids of all messages in the order of their numbers."""
    query = "SELECT message_id FROM mailqueue.outbox_message ORDER BY sequence_number"
    return [row[0] for row in await make.rows(conn, query)]


@asynccontextmanager
async def publishing(database: DatabaseSettings) -> AsyncIterator[None]:
    """Run a worker during the block."""
    stop = asyncio.Event()
    handler = PublishingHandler(WebhookPublisher(HttpPoster(LOOPBACK), master))
    kinds = [Kind(queue_named("publishing"), lambda: handler)]
    running = asyncio.create_task(
        run_queues(database, kinds, stop, launch_id=uuid4(), in_progress=InProgress())
    )
    try:
        yield
        if running.done():
            running.result()
    finally:
        stop.set()
        await running
