"""One application a test, and one that the tests of a file share."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.calling import Calling, calling


@pytest.fixture
async def api(database: DatabaseSettings) -> AsyncIterator[Calling]:
    async with calling(database) as made:
        yield made


@pytest.fixture(scope="module")
async def shared_api(module_db: str) -> AsyncIterator[Calling]:
    """An application for tests that mind nothing the others of their file leave behind."""
    async with calling(DatabaseSettings(Secret(module_db))) as made:
        yield made
