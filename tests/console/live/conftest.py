"""A console on a port, whose open pages are read at short intervals."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from mailqueue.api.http.server import bind, listening
from mailqueue.console.live import reader
from mailqueue.settings.environment import DatabaseSettings
from tests.console.live.serving import Served
from tests.console.visiting import visiting


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(reader, "RECHECK_SECONDS", 0.05)


@pytest.fixture
async def served(database: DatabaseSettings) -> AsyncIterator[Served]:
    async with visiting(database) as console:
        with bind("127.0.0.1", 0, option="--port") as sock:
            async with listening(console.app, sock) as url, AsyncExitStack() as stack:
                yield Served(console, url, stack)
