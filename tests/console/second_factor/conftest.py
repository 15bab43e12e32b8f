"""A console with a master key."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests.console.second_factor.device import with_key
from tests.console.visiting import Visiting


@pytest.fixture
async def console(database: DatabaseSettings) -> AsyncIterator[Visiting]:
    async with with_key(database) as made:
        yield made
