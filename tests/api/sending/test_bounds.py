"""Mail of a full project is refused with 429, that of others and other requests are not."""

import asyncio

import pytest

from tests import make
from tests.api.support.calling import Calling, error_of

pytestmark = pytest.mark.anyio


async def bounded(api: Calling, bound: str, most: int) -> None:
    async with api.pool.connection() as conn:
        await conn.execute(f"UPDATE mailqueue.projects SET {bound} = %s".encode(), [most])


async def test_mail_beyond_the_bound_is_refused_with_429(api: Calling) -> None:
    await bounded(api, "max_queued_emails", 2)
    assert [(await api.send()).status_code for _ in range(2)] == [202, 202]

    refused = await api.send()

    error = error_of(refused)
    assert (refused.status_code, error["name"]) == (429, "quota_exceeded")
    assert error["message"] == "project default is full: it has 2 queued emails and may have 2"
    assert refused.headers["retry-after"] == "60"


async def test_of_requests_that_come_together_those_that_fit_are_accepted(api: Calling) -> None:
    await bounded(api, "max_queued_emails", 10)

    answers = await asyncio.gather(*(api.send() for _ in range(30)))

    accepted = [each for each in answers if each.status_code == 202]
    assert {each.status_code for each in answers} == {202, 429}
    assert 10 <= len(accepted) <= 10 + 4  # as many commits run at once


async def test_a_batch_that_does_not_fit_is_refused_whole(api: Calling) -> None:
    await bounded(api, "max_queued_emails", 2)
    recipients = [{"email": f"p{n}@example.com"} for n in range(3)]
    body = {"subject": "Hello", "text_body": "Hello", "recipients": recipients}

    refused = await api.post("/v1/send/batch", body)

    assert refused.status_code == 429, refused.text
    assert (await api.send()).status_code == 202


async def test_a_template_beyond_the_bound_is_refused(api: Calling) -> None:
    await bounded(api, "max_templates", 0)
    async with api.pool.connection() as conn:
        project = await make.project_named(conn)

    template = {"slug": "welcome", "name": "Welcome"}
    refused = await api.post(f"/v1/projects/{project}/templates", template)

    assert error_of(refused)["name"] == "quota_exceeded", refused.text
