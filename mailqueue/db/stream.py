"""Reads the rows of a statement a piece at a time, however many there are."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import OperationalError

from mailqueue.core.errors import Unavailable
from mailqueue.db.fetch import Conn, Params, WrongRows
from mailqueue.db.sql import SQL, Gives

_PIECE = 1000


@asynccontextmanager
async def texts(conn: Conn, statement: str, params: Params) -> AsyncIterator[AsyncIterator[str]]:
    """Yield the only column of each row, all as of one moment; the connection is busy meanwhile.

    Raises:
        Unavailable: the server goes away on the way.
    """
    found = SQL[statement]
    if found.gives is not Gives.MANY:
        raise WrongRows(f"{found.name} is declared :{found.gives}, but read as :{Gives.MANY}")
    try:
        async with conn.transaction(), conn.cursor(name="texts") as cursor:
            cursor.itersize = _PIECE
            await cursor.execute(found.query, params)
            yield _firsts(cursor)
    except OperationalError as exc:
        raise Unavailable(f"PostgreSQL went away: {str(exc).splitlines()[0]}") from exc


async def _firsts(cursor: Any) -> AsyncIterator[str]:
    async for row in cursor:
        yield row[0]
