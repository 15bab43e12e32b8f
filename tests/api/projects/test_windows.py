"""The window of low priority among the settings of a project."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.administering import Administering, administering

pytestmark = pytest.mark.anyio


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database) as made:
        yield made


async def test_the_window_of_low_priority_is_set_and_taken_back(admin: Administering) -> None:
    night = {"slug": "shop", "low_priority_window": "22:00-06:00 Europe/Berlin"}
    made = await admin("POST", "/projects", night, status=201)
    path = f"/projects/{made['id']}"
    assert made["low_priority_window"] == "22:00-06:00 Europe/Berlin"

    wrong = await admin("PUT", path, {"low_priority_window": "22:00-06:00 Mars/Base"}, status=422)
    assert wrong["field"] == "low_priority_window"
    changed = await admin("PUT", path, {"low_priority_window": "1:00-24:00"})
    assert changed["low_priority_window"] == "01:00-00:00"
    reset = await admin("PUT", path, {"low_priority_window": None})
    assert reset["low_priority_window"] is None
