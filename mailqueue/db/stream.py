"""Streams the rows of a statement in batches, with bounded memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import OperationalError

from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Conn, Params
from mailqueue.db.sql import ManyRows

_PIECE = 1000


@asynccontextmanager
async def texts(
    conn: Conn, statement: ManyRows, params: Params
) -> AsyncIterator[AsyncIterator[str]]:
    """Yield the only column of each row from one snapshot; the connection is in use meanwhile.

    Raises:
        Unavailable: the connection to the server is lost.
    """
    try:
        async with conn.transaction(), conn.cursor(name="texts") as cursor:
            cursor.itersize = _PIECE
            await cursor.execute(statement.query, params)
            yield _firsts(cursor)
    except OperationalError as exc:
        raise Unavailable(
            f"the connection to PostgreSQL was lost: {str(exc).splitlines()[0]}"
        ) from exc


async def _firsts(cursor: Any) -> AsyncIterator[str]:
    async for row in cursor:
        yield row[0]
