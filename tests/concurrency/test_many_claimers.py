"""Limit: exact under 32 claimers that are killed, and their reservations are released."""

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from psycopg import OperationalError

from mailqueue.core.errors import LeaseLost, Unavailable
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.test_limits_under_load import look_again, overshoots, watched
from tests.mail.claim.steps import claim, counted, difference, mark, opened, settle

pytestmark = pytest.mark.anyio
CLAIMERS = 32
PATIENCE_SECONDS = 120.0
LONG_SILENCE = timedelta(hours=1)  # claimers here do not beat
ENDINGS = (Ending.SENT, Ending.SENT, Ending.SENT, Ending.DEFER)
_TERMINATE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
 WHERE datname = current_database() AND application_name = 'claimer' AND state = 'active'
 ORDER BY random() LIMIT 1
"""


@dataclass
class Claimers:
    """All claimers of a run, and the number of kills."""

    database: DatabaseSettings
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    deaths: int = 0  # with mail in hand
    cut: int = 0  # in the middle of a statement

    async def keep(self, seed: int) -> None:
        """Run a claimer, and another one after each kill."""
        chance = random.Random(seed)
        while not self.stop.is_set():
            worker = 0
            try:
                async with connect(self.database, application_name="claimer") as conn:
                    worker = await make.worker(conn)
                    await self.work(conn, worker, chance)
            except (OperationalError, Unavailable):
                self.cut += 1
            except LeaseLost as exc:
                raise AssertionError("a claimer that lives was declared lost") from exc
            async with connect(self.database) as conn:
                await make.silent(conn, worker, since=2 * LONG_SILENCE)
                await kernel.rescue(conn, silence=LONG_SILENCE)

    async def work(self, conn: Conn, worker: int, chance: random.Random) -> None:
        """Claim, mark and settle until killed or stopped."""
        while not self.stop.is_set():
            taken = await claim(conn, worker, limit=chance.randint(1, 12))
            chance.shuffle(taken)
            if taken and chance.random() < 0.15:
                await mark(conn, worker, taken[: chance.randint(0, len(taken))])
                self.deaths += 1
                return
            await mark(conn, worker, taken)
            while taken:
                group = [taken.pop() for _ in range(min(len(taken), chance.randint(1, 5)))]
                await settle(conn, group, chance.choice(ENDINGS), log=LogStatus.DEFERRED)
            await asyncio.sleep(0.005)


async def used_up(database: DatabaseSettings, *, limit: int, mails: int) -> Claimers:
    """Run the claimers until the project's limit is used up completely."""
    crew = Claimers(database)
    async with opened(database, 2) as (conn, killer):
        await conn.execute(
            "UPDATE mailqueue.projects SET daily_limit = %s WHERE name = 'default'", (limit,)
        )
        one = await make.sender_account(conn, daily_limit=limit * 2 // 3, priority=1)
        two = await make.sender_account(conn, daily_limit=limit * 2 // 3, priority=2)
        await conn.execute(
            "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body)"
            " SELECT 'm' || n || '@example.com', 'Hello', 'Hello' FROM generate_series(1, %s) AS n",
            (mails,),
        )
        await watched(conn)
        claimers = [asyncio.create_task(crew.keep(seed)) for seed in range(CLAIMERS)]
        try:
            async with asyncio.timeout(PATIENCE_SECONDS + mails / 20):
                while (await counted(conn)).sent < limit:
                    assert not any(each.done() for each in claimers), "a claimer gave up"
                    await look_again(conn)
                    await killer.execute(_TERMINATE.encode())
                    await asyncio.sleep(0.05)
        finally:
            crew.stop.set()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*claimers)

        assert await overshoots(conn) == []
        project, first, second = [await counted(conn, which) for which in (None, one, two)]
        assert (project.reserved, first.reserved, second.reserved) == (0, 0, 0)
        assert project.sent == first.sent + second.sent == limit
        assert max(first.sent, second.sent) <= limit * 2 // 3
        assert await difference(conn) == 0
        assert crew.deaths > 0
        assert crew.cut > 0
    return crew


async def test_32_claimers_that_die_in_the_middle_use_a_limit_up_and_never_pass_it(
    database: DatabaseSettings,
) -> None:
    await used_up(database, limit=240, mails=600)


@pytest.mark.soak
async def test_32_claimers_that_die_hundreds_of_times_keep_limits_exact(
    database: DatabaseSettings,
) -> None:
    crew = await used_up(database, limit=20_000, mails=40_000)

    assert crew.deaths > 500
