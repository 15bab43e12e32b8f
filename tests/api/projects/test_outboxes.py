"""The settings of a project for view outboxes, over HTTP."""

from collections.abc import AsyncIterator

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.administering import Administering, administering

pytestmark = pytest.mark.anyio


@pytest.fixture
async def admin(database: DatabaseSettings) -> AsyncIterator[Administering]:
    async with administering(database) as made:
        yield made


async def test_how_a_second_insert_of_an_id_ends_is_set_and_reset(admin: Administering) -> None:
    path = "/projects/default"
    assert (await admin("GET", path))["outbox_duplicates"] == "error"

    changed = await admin("PUT", path, {"outbox_duplicates": "skip"})
    wrong = await admin("PUT", path, {"outbox_duplicates": "ignore"}, status=422)
    assert (changed["outbox_duplicates"], wrong["field"]) == ("skip", "outbox_duplicates")

    reset = await admin("PUT", path, {"outbox_duplicates": None})
    assert reset["outbox_duplicates"] == "error"


async def test_order_is_set_and_reset(admin: Administering) -> None:
    path = "/projects/default"
    before = await admin("GET", path)
    assert (before["ordering"], before["ordering_on_failure"]) == (None, "continue")

    asked = {"ordering": "custom_data.customer", "ordering_on_failure": "block"}
    changed = await admin("PUT", path, asked)
    assert {name: changed[name] for name in asked} == asked
    for field, value in (
        ("ordering", "customer"),
        ("ordering", "custom_data."),
        ("ordering", "custom_data.a.b"),
        ("ordering_on_failure", "stop"),
    ):
        assert (await admin("PUT", path, {field: value}, status=422))["field"] == field

    reset = await admin("PUT", path, dict.fromkeys(asked))
    assert (reset["ordering"], reset["ordering_on_failure"]) == (None, "continue")
