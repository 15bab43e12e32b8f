"""Limit: exact under concurrent claims, and neither workers nor operators wait forever."""

import asyncio
import random
from datetime import timedelta

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.queue import store as kernel
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import (
    SILENCE,
    claim,
    counted,
    difference,
    end_waits,
    mark,
    opened,
    settle,
)

pytestmark = pytest.mark.anyio
WATCH = """
CREATE TABLE public.overshoots (limit_id integer, sent integer, reserved integer, tokens numeric);
CREATE FUNCTION public.watch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO public.overshoots
    SELECT NEW.limit_id, NEW.sent, NEW.reserved, NEW.tokens FROM mailqueue.limits AS m
     WHERE m.id = NEW.limit_id
       AND (NEW.sent + NEW.reserved > m.daily_limit OR NEW.reserved < 0 OR NEW.sent < 0
            OR (m.rate_per_second IS NOT NULL AND NEW.tokens < 0));
    RETURN NULL;
END $$;
CREATE TRIGGER watch AFTER INSERT OR UPDATE ON mailqueue.limit_counters
    FOR EACH ROW EXECUTE FUNCTION public.watch();
"""
ENOUGH = 40
"""Mails that workers have sent when they stop: more than the burst of the rate."""
ENDINGS = (Ending.SENT, Ending.SENT, Ending.SENT, Ending.DEFER, Ending.FAILED)


async def watched(conn: Conn) -> None:
    """Check every change of a counter against its limit."""
    await conn.execute(WATCH.encode())


async def overshoots(conn: Conn) -> list[tuple[object, ...]]:
    return await make.rows(conn, "SELECT * FROM public.overshoots LIMIT 5")


async def look_again(conn: Conn) -> None:
    await end_waits(conn, "blocked_until IS NOT NULL AND blocked_reason <> 'empty'")


async def work(conn: Conn, *, rounds: int, seed: int) -> int:
    """Claim and settle, return some; return how many mails were sent."""
    chance, worker, sent = random.Random(seed), await make.worker(conn), 0
    # This worker has no heartbeat, and must not be declared lost on a slow machine.
    await make.silent(conn, worker, since=-timedelta(hours=1))
    for _ in range(rounds):
        taken = await claim(conn, worker, limit=chance.randint(1, 30))
        chance.shuffle(taken)
        while taken:
            group = [taken.pop() for _ in range(min(len(taken), chance.randint(1, 7)))]
            ending = chance.choice(ENDINGS)
            await settle(conn, group, ending, reason="r", log=LogStatus.DEFERRED)
            sent += len(group) if ending is Ending.SENT else 0
        await asyncio.sleep(0.002)
    return sent


async def test_many_claimers_never_pass_a_limit_by_one(database: DatabaseSettings) -> None:
    async with opened(database, 7) as (conn, *workers):
        await conn.execute("UPDATE mailqueue.projects SET daily_limit = 150 WHERE name = 'default'")
        first = await make.sender_account(conn, daily_limit=80, priority=1)
        second = await make.sender_account(conn, daily_limit=90, priority=2)
        await make.queued_emails(conn, 400)
        await watched(conn)

        stop = asyncio.Event()

        async def nudge() -> None:
            while not stop.is_set():
                await look_again(conn)
                await asyncio.sleep(0.02)

        async def work_to_the_limit(worker: Conn, seed: int) -> int:
            sent = 0
            while (await counted(worker)).sent < 150:
                sent += await work(worker, rounds=10, seed=seed)
                seed += len(workers)
            return sent + await work(worker, rounds=10, seed=seed)

        nudging = asyncio.create_task(nudge())
        async with asyncio.timeout(60):
            sent = sum(
                await asyncio.gather(
                    *(work_to_the_limit(each, n) for n, each in enumerate(workers))
                )
            )
        stop.set()
        await nudging

        assert await overshoots(conn) == []
        project, one, two = [await counted(conn, which) for which in (None, first, second)]
        assert (project.reserved, one.reserved, two.reserved) == (0, 0, 0)
        assert project.sent == one.sent + two.sent == sent == 150
        assert one.sent <= 80
        assert two.sent <= 90
        assert await difference(conn) == 0


async def test_many_claimers_share_one_rate(database: DatabaseSettings) -> None:
    async with opened(database, 5) as (conn, *workers):
        account = await make.sender_account(conn, rate_per_second=50, burst=10)
        await make.queued_emails(conn, 300)
        await watched(conn)
        started_at = await make.scalar(conn, "SELECT clock_timestamp()")

        async def work_until_enough(worker: Conn, seed: int) -> None:
            while (await counted(worker, account)).sent < ENOUGH:
                await work(worker, rounds=10, seed=seed)
                seed += len(workers)

        async with asyncio.timeout(60):
            await asyncio.gather(*(work_until_enough(each, n) for n, each in enumerate(workers)))

        seconds = await make.scalar(
            conn, "SELECT extract(epoch FROM clock_timestamp() - %s)::float8", started_at
        )
        assert await overshoots(conn) == []
        assert ENOUGH <= (await counted(conn, account)).sent <= 10 + 50 * seconds


async def operate(conn: Conn, accounts: list[int], *, stop: asyncio.Event) -> int:
    """Change limits, pause and resume accounts until stopped."""
    changes = 0
    while not stop.is_set():
        account = accounts[changes % len(accounts)]
        for change in ("daily_limit = 100000", "status = 'paused'", "status = 'active'"):
            await conn.execute(
                f"UPDATE mailqueue.sender_accounts SET {change} WHERE id = %s".encode(), (account,)
            )
        await conn.execute("SELECT mailqueue.rest_sender(%s, 'away')", (account,))
        await conn.execute("SELECT mailqueue.sender_answered(%s)", (account,))
        await conn.execute("UPDATE mailqueue.projects SET updated_at = now()")
        changes += 1
        await asyncio.sleep(0.001)
    return changes


async def test_operators_and_workers_never_deadlock(database: DatabaseSettings) -> None:
    async with opened(database, 8) as (conn, operator, rescuer, producer, *workers):
        accounts = []
        for name in ("default", "second", "third"):
            project = await (make.project_named if name == "default" else make.project)(conn, name)
            for _ in range(2):
                accounts.append(await make.sender_account(conn, project_id=project))
            await make.queued_emails(conn, 150, project_id=project, project=None)
        stop = asyncio.Event()

        async def rescue() -> None:
            while not stop.is_set():
                dead = await make.worker(rescuer)
                taken = await claim(rescuer, dead, limit=20)
                await mark(rescuer, dead, taken[::2])
                await make.silent(rescuer, dead)
                await kernel.rescue(rescuer, silence=SILENCE)
                await asyncio.sleep(0.005)

        async def produce() -> None:
            while not stop.is_set():
                await make.queued_emails(producer, 3)
                await asyncio.sleep(0.005)

        beside = [
            asyncio.create_task(each)
            for each in (operate(operator, accounts, stop=stop), rescue(), produce())
        ]
        async with asyncio.timeout(150):
            await asyncio.gather(
                *(work(each, rounds=120, seed=n) for n, each in enumerate(workers))
            )
            stop.set()
            try:
                changes, *_ = await asyncio.gather(*beside)
            except errors.DeadlockDetected as exc:
                raise AssertionError("an operator ran into a deadlock") from exc

        assert changes is not None
        assert changes > 5
        assert await difference(conn) == 0
        assert await make.scalar(
            conn, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        ) == 0  # fmt: skip


async def test_settlers_bouncing_the_same_addresses_do_not_deadlock(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 3) as (conn, one, two):
        await make.sender_account(conn)
        for _ in range(40):
            for conns in (one, two):
                await make.queued_emails(conns, 6)
            taken = await claim(conn, await make.worker(conn))
            mine = sorted(taken[:6], key=lambda email: email.recipient_email)
            names = {email.recipient_email for email in mine}
            yours = sorted(
                (email for email in taken[6:] if email.recipient_email in names),
                key=lambda email: email.recipient_email,
                reverse=True,
            )
            await asyncio.gather(
                *(
                    settle(each, group, Ending.FAILED, reason="r", hard=True, log=LogStatus.BOUNCED)
                    for each, group in ((one, mine), (two, yours))
                )
            )
            await conn.execute("DELETE FROM mailqueue.suppressions")
            await conn.execute("DELETE FROM mailqueue.bounce_list")
