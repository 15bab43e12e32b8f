"""A broker for the tests of this folder, and a database of their own."""

from collections.abc import AsyncIterator, Iterator

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.bridge.server import RabbitServer, rabbit_server


@pytest.fixture(scope="package")
def rabbit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitServer]:
    """Run a broker that tests of this folder share; each has queues of its own."""
    with rabbit_server(tmp_path_factory.mktemp("rabbit") / "server") as server:
        yield server


@pytest.fixture(scope="package")
def large_frames(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitServer]:
    """Run a broker that takes frames of 4 MB, and TLS."""
    folder = tmp_path_factory.mktemp("rabbit") / "server"
    with rabbit_server(folder, has_large_frames_and_tls=True) as server:
        yield server


@pytest.fixture
async def conn(database: DatabaseSettings) -> AsyncIterator[Conn]:
    """A connection to the database of this test, which the bridge works on too."""
    async with connect(database, application_name="test") as opened:
        yield opened
