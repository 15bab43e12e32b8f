"""Answers of any size arrive whole, and who gives up leaves no statement running."""

import asyncio

import pytest
from psycopg import OperationalError
from psycopg.errors import DivisionByZero

from mailqueue.core.config import DatabaseSettings
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import open_connection

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(fresh_db: str) -> DatabaseSettings:
    return DatabaseSettings(Secret(fresh_db))


async def running(watcher: Conn, backend: int) -> int:
    """Say how many statements a session runs."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND state = 'active'"
    row = await (await watcher.execute(asked, (backend,))).fetchone()
    assert row is not None
    return int(row[0])


async def asleep(watcher: Conn, conn: Conn) -> "asyncio.Task[object]":
    """Have a connection run a statement that does not end."""
    sleeping: asyncio.Task[object] = asyncio.create_task(conn.execute("SELECT pg_sleep(300)"))
    for _ in range(3000):
        if await running(watcher, conn.info.backend_pid):
            return sleeping
        await asyncio.sleep(0.01)
    raise TimeoutError("the statement did not begin")


async def test_an_answer_in_many_pieces_arrives_whole(settings: DatabaseSettings) -> None:
    conn = await open_connection(settings)
    async with conn:
        found = await conn.execute("SELECT repeat('x', 10000) || n FROM generate_series(1, 500) n")
        assert [row[0] for row in await found.fetchall()] == [
            "x" * 10000 + str(n) for n in range(1, 501)
        ]


async def test_a_statement_larger_than_the_socket_takes_is_sent(settings: DatabaseSettings) -> None:
    conn = await open_connection(settings)
    async with conn:
        found = await conn.execute("SELECT length(%s::text)", ("x" * 20_000_000,))
        assert await found.fetchone() == (20_000_000,)


async def test_an_error_is_raised_and_the_connection_goes_on(settings: DatabaseSettings) -> None:
    conn = await open_connection(settings)
    async with conn:
        with pytest.raises(DivisionByZero):
            await conn.execute("SELECT pg_sleep(0.01), 1 / 0")
        assert await (await conn.execute("SELECT 1")).fetchone() == (1,)


async def test_who_gives_up_leaves_no_statement_running(settings: DatabaseSettings) -> None:
    conn = await open_connection(settings)
    watcher = await open_connection(settings)
    async with conn, watcher:
        sleeping = await asleep(watcher, conn)
        sleeping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sleeping
        assert await running(watcher, conn.info.backend_pid) == 0
        assert await (await conn.execute("SELECT 1")).fetchone() == (1,)


async def test_a_server_that_goes_away_is_an_error(settings: DatabaseSettings) -> None:
    conn = await open_connection(settings)
    watcher = await open_connection(settings)
    async with conn, watcher:
        sleeping = await asleep(watcher, conn)
        await watcher.execute("SELECT pg_terminate_backend(%s)", (conn.info.backend_pid,))
        with pytest.raises(OperationalError):
            await sleeping
