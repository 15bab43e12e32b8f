"""A console with a host name."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests.console.passkeys.using import with_host
from tests.console.visiting import Visiting


@pytest.fixture
async def console(database: DatabaseSettings) -> AsyncIterator[Visiting]:
    async with with_host(database) as made:
        yield made
