"""The pages of persons for each test."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from mailqueue.settings.environment import DatabaseSettings
from tests.console.looking import chromium
from tests.portal.phoning import SETTINGS, Phones
from tests.portal.visiting import Visiting, visiting


@pytest.fixture
async def portal(database: DatabaseSettings) -> AsyncIterator[Visiting]:
    async with visiting(database) as made:
        yield made


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Chromium, for tests with the marker `browser`."""
    async with chromium() as launched:
        yield launched


@pytest.fixture
async def phones(database: DatabaseSettings) -> AsyncIterator[Phones]:
    async with visiting(database, **SETTINGS) as portal:
        yield Phones(portal)
