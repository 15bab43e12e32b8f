"""A server that stops responding is detected within the time the connection string sets."""

import asyncio

import pytest

from mailqueue.core.errors import Unavailable
from mailqueue.core.secret import Secret
from mailqueue.db.pool import NOTICED, connect
from mailqueue.settings.environment import DatabaseSettings, DatabaseSource

pytestmark = pytest.mark.anyio


async def test_connections_notice_a_silent_server_by_themselves(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        used = conn.info.get_parameters()

    assert {name: int(used[name]) for name in NOTICED} == NOTICED


async def test_the_connection_string_may_say_otherwise(database: DatabaseSettings) -> None:
    patient = DatabaseSettings(Secret(f"{database.url.reveal()}?tcp_user_timeout=60000"))

    async with connect(patient) as conn:
        assert conn.info.get_parameters()["tcp_user_timeout"] == "60000"


async def test_a_standby_with_one_address_is_tried_once() -> None:
    tried = 0

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal tried
        tried += 1
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        url = f"postgresql://a@127.0.0.1:{port}/b?sslmode=disable&gssencmode=disable"
        with pytest.raises(Unavailable):
            async with connect(DatabaseSettings(Secret(url), DatabaseSource.REPLICA)):
                pass

    assert tried == 1
