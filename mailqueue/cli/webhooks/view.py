"""Output of webhooks and their deliveries."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.cli.support.app import opened
from mailqueue.db.fetch import Conn


@asynccontextmanager
async def connection_per_step() -> AsyncIterator[Conn]:
    """Yield a connection for one step; none is held during a call to an endpoint."""
    async with opened() as app:
        yield app.conn
