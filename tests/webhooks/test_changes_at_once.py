"""Two changes of a webhook at the same time: each keeps what the other changes."""

import asyncio
from typing import Any

import pytest

from mailqueue.core.errors import Conflict
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import MasterKey
from mailqueue.webhooks import endpoints
from tests import make
from tests.mail.claim.steps import opened, until_waiting

pytestmark = [pytest.mark.anyio, pytest.mark.deep]
MASTER = MasterKey(bytes(range(32)))
NEW: dict[str, Any] = {
    "url": "https://example.com/hook",
    "event_types": [],
    "description": None,
    "secret": None,
    "allowed": (),
    "master": MASTER,
    "by": "test",
}


async def test_a_change_keeps_what_another_session_changes_meanwhile(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (watching, one, other):
        project = await make.project_named(watching)
        added = (await endpoints.add(watching, project, **NEW)).webhook
        async with one.transaction():
            await endpoints.change(
                one, project, added.id, description="Orders", allowed=(), by="one"
            )
            change = asyncio.create_task(
                endpoints.change(
                    other, project, added.id, event_types=["email.sent"], allowed=(), by="other"
                )
            )
            await until_waiting(watching, other)
        await change

        found = await endpoints.find(watching, project, added.id)

    assert (found.description, found.event_types) == ("Orders", ["email.sent"])


async def test_the_bound_of_webhooks_is_not_passed_by_two_that_are_added_at_once(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (watching, one, other):
        project = await make.project_named(watching)
        for _ in range(endpoints.MAX_WEBHOOKS - 1):
            await endpoints.add(watching, project, **NEW)
        async with one.transaction():
            await endpoints.add(one, project, **NEW)
            late = asyncio.create_task(endpoints.add(other, project, **NEW))
            await until_waiting(watching, other)

        with pytest.raises(Conflict, match="50 webhooks"):
            await late
