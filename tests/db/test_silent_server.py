"""A server that stops responding is detected within the time the connection string sets."""

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.pool import NOTICED, connect
from mailqueue.settings.environment import DatabaseSettings

pytestmark = pytest.mark.anyio


async def test_connections_notice_a_silent_server_by_themselves(database: DatabaseSettings) -> None:
    async with connect(database) as conn:
        used = conn.info.get_parameters()

    assert {name: int(used[name]) for name in NOTICED} == NOTICED


async def test_the_connection_string_may_say_otherwise(database: DatabaseSettings) -> None:
    patient = DatabaseSettings(Secret(f"{database.url.reveal()}?tcp_user_timeout=60000"))

    async with connect(patient) as conn:
        assert conn.info.get_parameters()["tcp_user_timeout"] == "60000"
