"""Requests above a rate wait for their turn: in order, so many, so long, without a connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.core.errors import TooManyRequests
from mailqueue.projects.rate_limit import limiter
from mailqueue.projects.rate_limit.limiter import MAX_WAIT_SECONDS, RateLimiter
from tests.api.http.test_rate_limit import PATH, emptied, limited, move, taken
from tests.api.support.calling import Calling

pytestmark = pytest.mark.anyio


async def test_who_is_above_the_rate_waits_for_a_turn(shared_api: Calling) -> None:
    """In order, and as many as the window gives; none holds a connection meanwhile."""
    bucket, lent = uuid4(), 0

    @asynccontextmanager
    async def lend() -> AsyncIterator[Any]:
        nonlocal lent
        lent += 1
        async with shared_api.pool.connection() as conn:
            yield conn
        lent -= 1

    allowance, order = RateLimiter(lend), []
    assert await taken(allowance, bucket, 1, 10) == 10
    until = asyncio.get_running_loop().time() + MAX_WAIT_SECONDS

    async def request(number: int) -> None:
        await allowance.take_in_turn(bucket, 1, what="this key", until=until)
        order.append(number)

    requests = [asyncio.create_task(request(number)) for number in range(5)]
    await asyncio.sleep(0.3)

    assert (order, lent) == ([], 0)
    await move(shared_api, bucket, 9.8)
    await asyncio.gather(*requests)
    assert order == [0, 1, 2, 3, 4]


async def test_only_so_many_wait_and_only_so_long(
    shared_api: Calling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limiter, "MAX_WAITING", 3)
    bucket, allowance = uuid4(), RateLimiter(shared_api.pool.connection)
    await taken(allowance, bucket, 1, 10)
    now = asyncio.get_running_loop().time

    async def request(seconds: float) -> None:
        until = now() + seconds
        await allowance.take_in_turn(bucket, 1, what="this key", until=until)

    waiting = [asyncio.create_task(request(15)) for _ in range(3)]
    await asyncio.sleep(0.1)
    began = now()
    with pytest.raises(TooManyRequests):
        await request(15)
    waiting.pop().cancel()
    await asyncio.sleep(0)
    with pytest.raises(TooManyRequests) as late:
        await request(0.1)

    assert now() - began < 5
    assert late.value.retry_after.total_seconds() > 5
    for one in waiting:
        one.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert allowance._waiting == 0


async def test_a_request_above_the_rate_is_answered_when_its_turn_comes(
    shared_api: Calling,
) -> None:
    """Clients that never try again lose nothing."""
    key, bucket = await limited(shared_api, 5)
    await emptied(shared_api, bucket)

    requests = [asyncio.create_task(shared_api.get(PATH, key=key)) for _ in range(20)]
    await asyncio.sleep(0.3)
    assert not any(one.done() for one in requests)
    await move(shared_api, bucket, 10)

    answers = await asyncio.gather(*requests)
    assert [answer.status_code for answer in answers] == [200] * 20
