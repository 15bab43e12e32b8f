"""Concurrent requests share a commit, and each gets its own response."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from tests import make
from tests.api.support.calling import HELLO, Calling, error_of

pytestmark = pytest.mark.anyio
BOUND = 30.0


async def sent_at_once(api: Calling, bodies: Sequence[Mapping[str, object]]) -> list[int]:
    async with asyncio.timeout(BOUND):
        answers = await asyncio.gather(*(api.send(body) for body in bodies))
    return [answer.status_code for answer in answers]


async def commits(conn: Conn) -> int:
    """Return the number of transactions that accepted mail."""
    query = "SELECT count(DISTINCT xmin::text) FROM mailqueue.email_queue"
    return int(await make.scalar(conn, query))


async def test_requests_that_come_together_are_all_answered_from_few_commits(api: Calling) -> None:
    bodies = [{**HELLO, "to": [f"p{n}@example.com"]} for n in range(200)]

    assert await sent_at_once(api, bodies) == [202] * 200

    async with connect(api.database) as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 200
        assert await commits(conn) < 20


async def test_one_after_the_other_none_waits_for_company(api: Calling) -> None:
    async with asyncio.timeout(BOUND):
        for _ in range(50):
            assert (await api.send()).status_code == 202


async def test_a_refused_request_is_refused_alone(api: Calling) -> None:
    bodies = [{**HELLO, "to": ["nobody" if n % 3 else "ann@example.com"]} for n in range(30)]

    found = await sent_at_once(api, bodies)

    assert found == [422 if n % 3 else 202 for n in range(30)]


async def test_what_the_database_cannot_take_fails_alone(api: Calling) -> None:
    async with connect(api.database) as conn:
        await conn.execute(
            "ALTER TABLE mailqueue.email_queue"
            " ADD CONSTRAINT broken CHECK (recipient_email <> 'odd@example.com')"
        )
    bodies = [{**HELLO, "to": [f"{name}@example.com"]} for name in ("a", "odd", "b")]

    assert await sent_at_once(api, bodies) == [202, 500, 202]


async def test_an_invalid_key_affects_no_other_request_of_its_group(api: Calling) -> None:
    async with asyncio.timeout(BOUND):
        answers = await asyncio.gather(
            api.send(), api.send(X_API_Key=f"mq_live_{'x' * 43}"), api.send()
        )
    assert [answer.status_code for answer in answers] == [202, 401, 202]
    assert error_of(answers[1])["name"] == "unauthorized"
