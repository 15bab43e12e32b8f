"""One application for each test, and one for all tests of a file."""

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
    """An application for tests that do not depend on what other tests of their file leave."""
    async with calling(DatabaseSettings(Secret(module_db))) as made:
        yield made
