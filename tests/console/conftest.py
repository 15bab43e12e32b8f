"""One console for each test, and one for all tests of a file."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests.console.looking import chromium
from tests.console.visiting import Visiting, visiting


@pytest.fixture
async def console(database: DatabaseSettings) -> AsyncIterator[Visiting]:
    async with visiting(database) as made:
        yield made


@pytest.fixture(scope="module")
async def shared_console(module_db: str) -> AsyncIterator[Visiting]:
    """A console for tests that do not depend on what other tests of their file leave."""
    async with visiting(DatabaseSettings(Secret(module_db))) as made:
        yield made


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Chromium, for tests with the marker `browser`."""
    async with chromium() as launched:
        yield launched
