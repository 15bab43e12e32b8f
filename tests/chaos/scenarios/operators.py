"""An operator changes the tables of the queue by hand, locks them, or repairs them."""

import asyncio
from contextlib import suppress
from itertools import cycle

from psycopg import errors

from mailqueue.db.fetch import Conn
from tests import make
from tests.chaos.result import ScenarioResult
from tests.chaos.sandbox import Sandbox, ScenarioSize
from tests.chaos.scenarios.sessions import beside, superuser
from tests.concurrency.running import Command, until

LOCKED_SECONDS, TURNS = 2.0, 6
_WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"
_LOCKED = (
    "SELECT count(*) FROM (SELECT FROM mailqueue.email_queue FOR UPDATE) AS q",
    "SELECT count(*) FROM (SELECT FROM mailqueue.lanes FOR UPDATE) AS l",
    "SELECT count(*) FROM (SELECT FROM mailqueue.limits FOR UPDATE) AS m",
    "SELECT count(*) FROM (SELECT FROM mailqueue.workers FOR UPDATE) AS w",
    "SELECT count(*) FROM (SELECT FROM mailqueue.send_intents FOR UPDATE) AS i",
)
_TABLES = ["email_queue", "email_history", "send_logs", "lanes", "limits", "limit_counters"]
_TABLES += ["send_intents", "lane_signals", "workers", "email_contents"]
WORK = (
    *(f"VACUUM FULL mailqueue.{name}" for name in _TABLES[:1] + _TABLES[3:9]),
    *(f"REINDEX TABLE mailqueue.{name}" for name in _TABLES[:1] + _TABLES[3:9]),
    "REINDEX TABLE CONCURRENTLY mailqueue.email_queue",
    *(f"ANALYZE mailqueue.{name}" for name in _TABLES),
    "UPDATE mailqueue.email_queue SET priority = priority",
    "UPDATE mailqueue.email_queue SET run_at = now() - interval '1 s' WHERE status = 'pending'",
    "UPDATE mailqueue.lanes SET weight = weight",
    "UPDATE mailqueue.sender_accounts SET daily_limit = 100000, updated_at = now()",
    "DELETE FROM mailqueue.send_logs WHERE sent_at < now() - interval '1 s'",
    "VACUUM mailqueue.email_queue",
)


async def locked(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """Rows of queue, lanes and limits are locked for a while, one after another and together."""

    async def inject(dba: Conn, _: Command) -> int:
        most = 0
        async with superuser(sandbox) as watcher:
            for statements in (*((each,) for each in _LOCKED), tuple(reversed(_LOCKED))):
                with suppress(errors.DeadlockDetected):
                    async with dba.transaction():
                        for statement in statements:
                            await make.scalar(dba, statement)

                        async def somebody_waits() -> int:
                            return int(await make.scalar(watcher, _WAITING))

                        with suppress(AssertionError):  # everything was sent already
                            most = max(most, await until(somebody_waits, seconds=5.0))
                        await asyncio.sleep(max(LOCKED_SECONDS, size.seconds) / TURNS)
        return most

    return await beside(sandbox, size, "rows locked by somebody else", inject)


async def repaired(sandbox: Sandbox, size: ScenarioSize) -> ScenarioResult:
    """VACUUM FULL, REINDEX, UPDATE and DELETE by hand, one after another."""

    async def inject(dba: Conn, _: Command) -> int:
        loop, done = asyncio.get_running_loop(), 0
        deadline = loop.time() + size.seconds
        for statement in cycle(WORK):
            if done >= len(WORK) and loop.time() >= deadline:
                break
            try:
                await dba.execute(statement.encode())
            except errors.DeadlockDetected:  # the one who meddles gives way, or we do
                continue
            done += 1
        return done

    return await beside(sandbox, size, "a person at work on the tables", inject)
