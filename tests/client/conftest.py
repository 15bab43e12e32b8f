"""One application that the tests of a file share."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.calling import Calling, calling


@pytest.fixture(scope="module")
async def shared_api(module_db: str) -> AsyncIterator[Calling]:
    async with calling(DatabaseSettings(Secret(module_db))) as made:
        yield made
