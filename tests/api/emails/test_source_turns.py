"""Building messages for display has turns: one project's requests do not use up the process."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from mailqueue.core.project_turns import MAX_WAITING, RETRY_AFTER
from mailqueue.mail.message import preview
from mailqueue.settings.environment import DatabaseSettings
from tests.api.support.calling import Calling, calling, error_of

pytestmark = pytest.mark.anyio


@pytest.fixture
async def api(database: DatabaseSettings) -> AsyncIterator[Calling]:
    async with calling(database) as made:
        yield made


async def test_more_requests_of_a_project_than_may_wait_are_refused_with_the_time_to_wait(
    api: Calling,
) -> None:
    sent = await api.post("/v1/send", {"to": "ann@example.com", "subject": "s", "text_body": "t"})
    path = f"/v1/emails/{sent.json()['id']}/source"
    async with preview.BUILD_TURNS.turn(uuid4()):  # of another project
        asked = [asyncio.create_task(api.get(path)) for _ in range(MAX_WAITING + 2)]
        first = asyncio.as_completed(asked, timeout=60)
        refused = [await next(first), await next(first)]

    answers = [one.status_code for one in await asyncio.gather(*asked)]
    assert sorted(answers) == [200] * MAX_WAITING + [429] * 2
    for answer in refused:
        assert answer.status_code == 429
        assert answer.headers["Retry-After"] == str(int(RETRY_AFTER.total_seconds()))
        assert "requests of the project wait to have a message built" in error_of(answer)["message"]
