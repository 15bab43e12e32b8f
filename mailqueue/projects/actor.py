"""Sets for whom a transaction acts: the actor that audit events name, and the project it sees."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.db.fetch import Conn
from mailqueue.projects.keys import store


@asynccontextmanager
async def acting(conn: Conn, *, by: str) -> AsyncIterator[None]:
    """Begin a transaction whose audit events name `by` as the actor."""
    async with conn.transaction():
        await store.set_actor(conn, by)
        yield


act_for = store.act_for
