"""Limit: a real server sees a rate kept, in each second, by one or several processes.

That no second between two claims has more than burst and rate is tests/mail/limits/test_pacing.py.
"""

import asyncio
from bisect import bisect_left

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests.concurrency.running import account_at, enqueue, pids, session, until, workers
from tests.smtp.client.scripted import Message, scripted

pytestmark = pytest.mark.anyio
SECONDS = 4
MAX_SECONDS = 60
"""Worth of mail after which a rate that was never kept is given up on."""


class Times(list[Message]):
    """Messages of a server, with the time at which each came."""

    def __init__(self) -> None:
        super().__init__()
        self.at: list[float] = []

    def append(self, message: Message) -> None:
        self.at.append(asyncio.get_running_loop().time())
        super().append(message)

    def between(self, start: float, end: float) -> int:
        """Count the messages of a time."""
        return bisect_left(self.at, end) - bisect_left(self.at, start)

    def have_kept(self, rate: int, burst: int) -> bool:
        """Return whether some seconds in a row, after the first burst, had the rate.

        A process that does not run for a while, this one or a worker, sends or sees at once what
        was due meanwhile: other seconds show more.
        """
        if not self.at:
            return False
        start = self.at[0] + 1
        while start + SECONDS <= self.at[-1]:
            each = [self.between(start + n, start + n + 1) for n in range(SECONDS)]
            if max(each) <= burst + rate and sum(each) == pytest.approx(rate * SECONDS, rel=0.1):
                return True
            start += 0.1
        return False

    def are_over(self, rate: int, burst: int, since: float) -> bool:
        """Return whether more came since a moment than a rate allows; lateness never causes it."""
        most = max(burst, 1 + rate / 4)
        return any(n > most + rate * (at - since) for n, at in enumerate(self.at, start=1))


async def keep_mail(conn: Conn, times: Times, queued: int, rate: int) -> int:
    """Queue more mail where the rest would last for few seconds; return how many were queued."""
    if queued >= rate * MAX_SECONDS or len(times) + 3 * rate < queued:
        return queued
    await enqueue(conn, 5 * rate)
    return queued + 5 * rate


@pytest.mark.parametrize(
    ("rate", "burst", "processes"),
    [
        (40, 1, 1),
        (40, 1, 4),
        (100, 100, 4),
        *(
            pytest.param(*case, marks=pytest.mark.soak)
            for case in ((40, 1, 2), (100, 100, 1), (100, 100, 2))
        ),
    ],
)
async def test_each_second_has_the_rate(
    database: DatabaseSettings, rate: int, burst: int, processes: int
) -> None:
    async with scripted() as server, session(database) as conn:
        server.messages = times = Times()
        await account_at(conn, server, rate_per_second=rate, burst=burst)
        async with workers(database, processes=processes, in_flight=64, batch=200):
            await pids(conn, processes)
            since, queued = asyncio.get_running_loop().time(), 0

            async def is_enough() -> bool:
                nonlocal queued
                queued = await keep_mail(conn, times, queued, rate)
                return times.have_kept(rate, burst) or len(times) >= rate * MAX_SECONDS

            await until(is_enough)

        assert not times.are_over(rate, burst, since)
        assert times.have_kept(rate, burst)
