"""Stopping a worker of webhooks."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.webhooks.delivering import deliver, states, told, tools, webhook


@pytest.mark.anyio
async def test_a_worker_that_stops_finishes_calls_and_gives_the_rest_back(
    database: DatabaseSettings,
) -> None:
    gate = asyncio.Event()
    async with connect(database) as db, slow(gate) as (url, seen):
        hook = await webhook(db, url)
        await told(db, 10)
        stop = asyncio.Event()
        running = asyncio.create_task(deliver(database, tools(), stop))
        await seen.wait()
        stop.set()
        gate.set()
        await running

        found = Counter(await states(db, hook))
        assert found["assigned"] == 0
        assert found["delivered"] >= 1
        assert found["delivered"] + found["pending"] == 10
        assert await make.scalar(
            db, "SELECT sum(attempts) FROM mailqueue.webhook_deliveries WHERE status = 'pending'"
        ) in (0, None)


@asynccontextmanager
async def slow(gate: asyncio.Event) -> AsyncIterator[tuple[str, asyncio.Event]]:
    """Serve an endpoint that replies when the gate opens; yield the time of its first request."""
    seen = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                seen.set()
                await gate.wait()
                writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", seen
    finally:
        server.close()
