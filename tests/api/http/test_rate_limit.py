"""The rate limit of a key: counted over all processes, without a row for each request."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.api.http import auth
from mailqueue.core.errors import TooManyRequests
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.rate_limit.limiter import RateLimiter
from tests import make
from tests.api.support.calling import Calling, error_of

pytestmark = pytest.mark.anyio
NOT_BEFORE_2100 = 4_102_444_800.0
"""A slot ahead of the clock counts as one of now."""
PATH = "/v1/projects/default/api-keys"


class Clock:
    """The clock of one process."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def taken(allowance: RateLimiter, bucket: Any, rate: float, count: int) -> int:
    """Make that many requests; return how many were allowed."""
    answers = await asyncio.gather(
        *(allowance.take(bucket, rate, what="this key") for _ in range(count)),
        return_exceptions=True,
    )
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert all(isinstance(answer, TooManyRequests) for answer in refused)
    return count - len(refused)


def leased(bucket: UUID, count: int) -> dict[str, object]:
    """Return the row of a bucket whose requests were leased now, so that none is free soon."""
    filled = {"tokens": 100 - count, "granted": 0, "filled_at": "2100-01-01 00:00:00Z"}
    return {"id": bucket, **filled, "slots": [NOT_BEFORE_2100], "counts": [float(count)]}


async def test_processes_share_what_a_key_may_do(shared_api: Calling) -> None:
    """The rate is so low that nothing is refilled during the test."""
    bucket = uuid4()
    processes = [RateLimiter(shared_api.pool.connection) for _ in range(3)]

    found = await asyncio.gather(*(taken(each, bucket, 0.001, 20) for each in processes))

    assert sum(found) == 1, "a bucket holds one at least"


async def test_exactly_what_is_in_the_bucket_is_let_in(shared_api: Calling) -> None:
    bucket = uuid4()
    async with shared_api.pool.connection() as conn:
        await make.inserted(
            conn,
            "request_buckets",
            leased(bucket, 43),
        )
    processes = [RateLimiter(shared_api.pool.connection, now=Clock()) for _ in range(3)]

    found = await asyncio.gather(*(taken(each, bucket, 10, 100) for each in processes))

    assert sum(found) == 57


async def move(api: Calling, bucket: Any, seconds: float) -> None:
    """Have so much time pass for a window."""
    async with api.pool.connection() as conn:
        await conn.execute(
            "UPDATE mailqueue.request_buckets"
            " SET slots = ARRAY(SELECT s - %s FROM unnest(slots) AS s) WHERE id = %s",
            (seconds, bucket),
        )


async def test_no_ten_seconds_have_more_than_the_rate_gives(shared_api: Calling) -> None:
    """Also those that begin in the middle of what another one had."""
    bucket = uuid4()

    async def make_requests(count: int) -> int:
        # Each time another process, so that no lease is left.
        return await taken(RateLimiter(shared_api.pool.connection), bucket, 10, count)

    first = await make_requests(60)
    await move(shared_api, bucket, 5)  # seconds to spare on a busy machine, on both sides
    second = await make_requests(100)
    await move(shared_api, bucket, 7)
    third = await make_requests(100)

    assert (first, second) == (60, 40)
    assert 50 <= third <= 60, "only what was made before the last ten seconds is free again"


async def test_a_lease_is_one_row_written_for_many_requests(shared_api: Calling) -> None:
    bucket = uuid4()
    allowance = RateLimiter(shared_api.pool.connection, now=Clock())

    assert await taken(allowance, bucket, 100, 100) == 100
    async with shared_api.pool.connection() as conn:
        left = await make.scalar(
            conn, "SELECT tokens FROM mailqueue.request_buckets WHERE id = %s", bucket
        )
    assert left == 900, "one lease of a tenth"


async def test_what_is_not_used_goes_back(shared_api: Calling) -> None:
    bucket, clock = uuid4(), Clock()
    allowance = RateLimiter(shared_api.pool.connection, now=clock)
    async with shared_api.pool.connection() as conn:
        await make.inserted(
            conn,
            "request_buckets",
            {"id": bucket, "tokens": 100, "granted": 0, "filled_at": "2100-01-01 00:00:00Z"},
        )
        for _ in range(5):
            await allowance.take(bucket, 10, what="this key")
            clock.now += 2
        left = await make.scalar(
            conn, "SELECT tokens FROM mailqueue.request_buckets WHERE id = %s", bucket
        )

    assert left == 100 - 4 - 10, "four are used, ten are leased"


async def test_who_was_refused_does_not_reach_the_database_again(shared_api: Calling) -> None:
    bucket, clock, asked = uuid4(), Clock(), 0
    async with shared_api.pool.connection() as conn:
        await make.inserted(
            conn,
            "request_buckets",
            leased(bucket, 100),
        )

    def lend() -> Any:
        nonlocal asked
        asked += 1
        return shared_api.pool.connection()

    allowance = RateLimiter(lend, now=clock)

    assert await taken(allowance, bucket, 10, 50) == 0
    assert asked == 1
    clock.now += 9
    assert await taken(allowance, bucket, 10, 50) == 0
    assert asked == 1, "no request of the last ten seconds is forgotten yet"
    clock.now += 3
    assert await taken(allowance, bucket, 10, 50) == 0
    assert asked == 2


async def limited(api: Calling, rate: int | None) -> tuple[str, Any]:
    async with api.pool.connection() as conn:
        issued = await issue_key(
            conn, "default", uuid4().hex, is_test=False, requests_per_second=rate
        )
        return issued.key.reveal(), issued.record.id


async def emptied(api: Calling, bucket: Any) -> None:
    async with api.pool.connection() as conn:
        await conn.execute(
            "INSERT INTO mailqueue.request_buckets VALUES (%s, 0, 0, now(),"
            " ARRAY[extract(epoch FROM now())], ARRAY[1000])"
            " ON CONFLICT (id) DO UPDATE SET slots = excluded.slots, counts = excluded.counts",
            (bucket,),
        )


async def test_a_hundred_in_ten_seconds_unless_said_otherwise(shared_api: Calling) -> None:
    usual, _ = await limited(shared_api, None)
    own, _ = await limited(shared_api, 500)

    for key, limit in ((usual, 100), (own, 5000)):
        answer = await shared_api.get(PATH, key=key)
        assert answer.headers["ratelimit-policy"] == f'"key";q={limit};w=10'
        assert answer.headers["ratelimit"] == f'"key";r={limit - 1};t=1'


@pytest.fixture
def no_request_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "MAX_WAIT_SECONDS", 0.5)


@pytest.mark.usefixtures("no_request_waits")
async def test_too_many_are_told_when_to_come_again(shared_api: Calling) -> None:
    key, bucket = await limited(shared_api, 5)
    await emptied(shared_api, bucket)

    refused = await shared_api.get(PATH, key=key)

    assert (refused.status_code, error_of(refused)["name"]) == (429, "rate_limit_exceeded")
    assert refused.headers["retry-after"] in ("10", "11"), "when they leave the window"
    assert refused.headers["ratelimit-policy"] == '"key";q=50;w=10'
    assert refused.headers["ratelimit"] == '"key";r=0;t=10'
    assert "this key may make 50 requests in 10 s" in error_of(refused)["message"]


@pytest.mark.usefixtures("no_request_waits")
async def test_a_project_bounds_its_keys_together(shared_api: Calling) -> None:
    name = f"p{uuid4().hex}"
    async with shared_api.pool.connection() as conn:
        project = await make.project(conn, name)
        await conn.execute(
            "UPDATE mailqueue.projects SET requests_per_second = 5 WHERE id = %s", (project,)
        )
        keys = [
            (await issue_key(conn, name, word, is_test=False)).key.reveal() for word in ("a", "b")
        ]
    before = [await shared_api.get(f"/v1/projects/{name}/api-keys", key=key) for key in keys]
    await emptied(shared_api, project)
    # Each process may still use what it has leased.
    answers = [
        await shared_api.get(f"/v1/projects/{name}/api-keys", key=keys[n % 2]) for n in range(60)
    ]

    assert [answer.status_code for answer in before] == [200, 200]
    assert answers[-1].status_code == 429
    assert "all keys of this project together" in error_of(answers[-1])["message"]
    assert answers[-1].headers["ratelimit-policy"] == '"project";q=50;w=10'


async def test_without_a_bound_nothing_is_counted(shared_api: Calling) -> None:
    async with shared_api.pool.connection() as conn:
        change = "UPDATE mailqueue.system_settings SET value = %s WHERE name = 'requests_per_key'"
        await conn.execute(change, ("0",))
        key, _ = await limited(shared_api, None)
        answer = await shared_api.get(PATH, key=key)
        await conn.execute(change, ("100",))

    assert "ratelimit" not in answer.headers
