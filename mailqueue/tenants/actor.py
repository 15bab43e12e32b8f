"""Sets the actor of a transaction, which every audit event written in it names."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.db.fetch import Conn
from mailqueue.tenants.keys import store


@asynccontextmanager
async def acting(conn: Conn, *, by: str) -> AsyncIterator[None]:
    """Have one transaction in which the audit names `by`."""
    async with conn.transaction():
        await store.set_actor(conn, by)
        yield
