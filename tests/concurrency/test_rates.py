"""Limit: a real server sees a rate kept, in each second, by one or several processes.

That no second between two claims has more than burst and rate is tests/queue/limits/test_pacing.py.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.running import account_at, pids, session, until, workers
from tests.smtp.client.scripted import Message, scripted

pytestmark = pytest.mark.anyio
SECONDS = 5


class Times(list[Message]):
    """Messages of a server, with the time at which each came."""

    def __init__(self) -> None:
        super().__init__()
        self.at: list[float] = []

    def append(self, message: Message) -> None:
        self.at.append(asyncio.get_running_loop().time())
        super().append(message)

    def by_second(self) -> Counter[int]:
        """Count the messages of each second since the first one."""
        return Counter(int(at - self.at[0]) for at in self.at)


@dataclass
class Standstills:
    """How long this process did not run: what came meanwhile is seen all at once."""

    longest: float = 0.0
    _task: "asyncio.Task[None] | None" = field(default=None)

    async def __aenter__(self) -> "Standstills":
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()

    async def _watch(self) -> None:
        now = asyncio.get_running_loop().time
        while True:
            asleep_at = now()
            await asyncio.sleep(0.005)
            self.longest = max(self.longest, now() - asleep_at - 0.005)


@pytest.mark.parametrize("processes", [1, 2, 4])
@pytest.mark.parametrize(("rate", "burst"), [(40, 1), (100, 100)])
async def test_each_second_has_the_rate(
    database: DatabaseSettings, processes: int, rate: int, burst: int
) -> None:
    async with scripted() as server, session(database) as conn:
        server.messages = times = Times()
        await account_at(conn, server, rate_per_second=rate, burst=burst)
        async with workers(database, processes=processes, in_flight=64, batch=200):
            await pids(conn, processes)
            async with Standstills() as standstills:
                await make.queued_emails(conn, rate * (SECONDS + 1) + burst)

                async def is_long_enough() -> bool:
                    return bool(times.at) and times.at[-1] >= times.at[0] + SECONDS

                await until(is_long_enough)

        assert max(times.by_second().values()) <= burst + rate * (1 + standstills.longest)
        last = times.at[0] + SECONDS
        after_burst = [one for one in times.at if times.at[0] + 1 <= one < last]
        assert len(after_burst) == pytest.approx(rate * (SECONDS - 1), rel=0.1)
