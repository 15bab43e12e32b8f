"""One application a test."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.core.config import DatabaseSettings
from tests.api.calling import Calling, calling


@pytest.fixture
async def api(database: DatabaseSettings) -> AsyncIterator[Calling]:
    async with calling(database) as made:
        yield made
