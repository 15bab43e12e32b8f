"""One application that the tests of a file share."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.core.config import DatabaseSettings
from mailqueue.core.secret import Secret
from tests.api.calling import Calling, calling


@pytest.fixture(scope="module")
async def shared_api(module_db: str) -> AsyncIterator[Calling]:
    async with calling(DatabaseSettings(Secret(module_db))) as made:
        yield made
