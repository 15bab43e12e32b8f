"""A PostgreSQL that is killed and started again, alone or with a worker."""

import asyncio

from mailqueue.db.fetch import Conn
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import IN_FLIGHT, Sandbox, ScenarioSize
from tests.chaos.scenarios.kills import kill_one
from tests.chaos.sink.faults import Fault
from tests.concurrency.running import pids, until

FEWEST_KILLS, SELDOM_SECONDS = 2, 10.0


async def database_killed(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Workers continue and write the outcomes: nothing lost, duplicated or unknown."""
    await sandbox.sink.obey(Fault.SLOW, wait_ms=5)
    async with sandbox.workers(2):
        async with sandbox.session() as conn:
            await pids(conn, 2)
        async with sandbox.producing(size.mails, seconds=size.seconds) as mails:
            kills = max(FEWEST_KILLS, int(size.seconds / SELDOM_SECONDS))
            for _ in range(kills):
                await asyncio.sleep(size.seconds / kills)
                await asyncio.to_thread(sandbox.server.kill)
                await asyncio.to_thread(sandbox.server.start)
        async with sandbox.session() as conn:
            await sandbox.settled(conn)
            fault = "kill -9 of PostgreSQL"
            found = await sandbox.compare(conn, fault, faults=kills, accepted=mails.accepted)
    found.promise(found.duplicated == 0, f"{found.duplicated} duplicates")
    found.promise(found.unknown == 0, f"{found.unknown} of unknown fate")
    return found


async def both_killed(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """A worker and PostgreSQL are killed at the same time, repeatedly."""
    await sandbox.sink.obey(Fault.SLOW, wait_ms=5)
    async with sandbox.workers(2):
        async with sandbox.session() as conn:
            await pids(conn, 2)
        async with sandbox.producing(size.mails, seconds=size.seconds) as mails:
            kills = max(FEWEST_KILLS, int(size.seconds / SELDOM_SECONDS))
            for _ in range(kills):
                await asyncio.sleep(size.seconds / kills)
                async with sandbox.session() as conn:

                    async def one_is_killed(conn: Conn = conn) -> bool:
                        return bool(kill_one(await pids(conn, 2)))

                    await until(one_is_killed)
                await asyncio.to_thread(sandbox.server.kill)
                await asyncio.to_thread(sandbox.server.start)
        async with sandbox.session() as conn:
            await sandbox.settled(conn)
            fault = "kill -9 of a worker and PostgreSQL"
            found = await sandbox.compare(conn, fault, faults=kills, accepted=mails.accepted)
    most = kills * IN_FLIGHT
    found.promise(found.duplicated <= most, f"more than {most} duplicates: {found.duplicated}")
    return found
