"""What requests of one project hold of a process is bounded: how many of them, and connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import httpx2
import orjson
import pytest

from mailqueue.api.app import create_app
from mailqueue.api.http.requests import in_flight
from mailqueue.api.http.requests.in_flight import RequestsInFlight
from mailqueue.core.errors import TooManyRequests
from mailqueue.db.pool import Pool, open_pool
from mailqueue.projects.keys.manage import issue_key
from tests import make
from tests.api.support.calling import HELLO, ORIGIN, Calling, error_of, settings_for

pytestmark = pytest.mark.anyio
MOST = 3
HEADS = {
    "/v1/send": "X-API-Key",
    "/email": "X-Postmark-Server-Token",
    "/emails": "Authorization",
    "/v3/mail/send": "Authorization",
}


class SlowBody:
    """A body whose last byte is sent when `end` is set."""

    def __init__(self) -> None:
        self.is_read = asyncio.Event()
        self.end = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        document = orjson.dumps(HELLO)
        yield document[:-1]
        self.is_read.set()
        await self.end.wait()
        yield document[-1:]


async def bounded(
    stack: AsyncExitStack, calling: Calling, pool: Pool | None = None
) -> httpx2.AsyncClient:
    """Return a client of an application that answers MOST requests of a project at once."""
    settings = settings_for(calling.database, project_requests=MOST)
    transport = httpx2.ASGITransport(app=create_app(settings, pool or calling.pool))
    return await stack.enter_async_context(httpx2.AsyncClient(transport=transport, base_url=ORIGIN))


async def test_slow_requests_of_a_project_are_counted_and_those_of_others_are_answered(
    shared_api: Calling,
) -> None:
    async with shared_api.pool.connection() as conn:
        await make.project(conn, "in-flight")
        issued = await issue_key(conn, "in-flight", "other", is_test=False)
    async with AsyncExitStack() as stack:
        http = await bounded(stack, shared_api)
        mine, theirs = ({"X-API-Key": key} for key in (shared_api.key, issued.key.reveal()))
        slow = [SlowBody() for _ in range(MOST)]
        sending = [
            asyncio.create_task(http.post("/v1/send", content=body, headers=mine)) for body in slow
        ]
        await asyncio.gather(*(body.is_read.wait() for body in slow))

        for path, head in HEADS.items():
            key = f"Bearer {shared_api.key}" if head == "Authorization" else shared_api.key
            refused = await http.post(path, json=HELLO, headers={head: key})
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1"), path
        refused = await http.post("/v1/send", json=HELLO, headers=mine)
        answered = await http.post("/v1/send", json=HELLO, headers=theirs)
        slow[0].end.set()
        first = await sending[0]
        again = await http.post("/v1/send", json=HELLO, headers=mine)
        for body in slow:
            body.end.set()
        done = await asyncio.gather(*sending)

    assert error_of(refused)["message"].endswith("3 requests of this project are being answered")
    assert [one.status_code for one in (answered, first, again, *done)] == [202] * (MOST + 3)


async def test_a_refused_request_and_one_that_failed_are_counted_no_more(
    shared_api: Calling,
) -> None:
    async with AsyncExitStack() as stack:
        http = await bounded(stack, shared_api)
        headers = {"X-API-Key": shared_api.key}

        answers = [
            (await http.post("/v1/send", content=b"{", headers=headers)).status_code
            for _ in range(2 * MOST)
        ]

    assert answers == [400] * (2 * MOST)


async def test_a_project_uses_half_of_the_connections_and_its_other_requests_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = uuid4(), uuid4()
    counted = RequestsInFlight(requests=100, pool_size=4)
    used: dict[Any, int] = {one: 0, other: 0}
    release = asyncio.Event()

    async def use(project: Any) -> None:
        async with counted.connection(project):
            used[project] += 1
            await release.wait()

    tasks = [asyncio.create_task(use(project)) for project in (one, one, one, other)]
    for _ in range(3):
        await asyncio.sleep(0)
    assert used == {one: 2, other: 1}

    monkeypatch.setattr(in_flight, "CONNECTION_SECONDS", 0)
    with pytest.raises(TooManyRequests, match="have used the database for too long"):
        await use(one)

    release.set()
    await asyncio.gather(*tasks)
    assert used == {one: 3, other: 1}


async def test_requests_that_wait_too_long_for_a_connection_of_their_project_are_refused(
    shared_api: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_flight, "CONNECTION_SECONDS", 0)
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(open_pool(shared_api.database, max_size=1))
        http = await bounded(stack, shared_api, pool)
        headers = {"X-API-Key": shared_api.key}

        answers = await asyncio.gather(
            *(http.get("/v1/contacts", headers=headers) for _ in range(MOST))
        )
        after = await http.get("/v1/contacts", headers=headers)

    assert {one.status_code for one in answers} == {200, 429}
    assert after.status_code == 200
