"""Sets for whom a transaction acts: the actor that audit events name, and the project it sees."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.tenants.keys import store


@asynccontextmanager
async def acting(conn: Conn, *, by: str) -> AsyncIterator[None]:
    """Begin a transaction whose audit events name `by` as the actor."""
    async with conn.transaction():
        await store.set_actor(conn, by)
        yield


async def act_for(
    conn: Conn,
    project_id: UUID | None,
    *,
    by: str,
    key_id: UUID | None = None,
    is_test: bool | None = None,
    is_read_only: bool = False,
) -> bool:
    """Set the API role and the project (None: all) until the transaction ends.

    `is_test` is the mode of the key, None for both. Return False if the key is not valid.
    """
    return await store.act_for(
        conn, project_id, by=by, key_id=key_id, is_test=is_test, is_read_only=is_read_only
    )
