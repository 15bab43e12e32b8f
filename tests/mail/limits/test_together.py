"""Limit: warm-up, rates and daily limits hold together, whatever workers do.

Rules come and go meanwhile, circuits open and close, and refused mail changes its account.
"""

import asyncio
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.filling import fill
from tests.mail.claim.steps import claim, counted, difference, end_waits, lose, mark, opened, settle

pytestmark = pytest.mark.anyio

# Every change of a counter is looked at. A bucket never holds less than nothing, a day never more
# than its limit, which in warm-up is that of its stage. Mails here have one recipient.
WATCH = """
CREATE TABLE public.overshoots (owner text, sent integer, reserved integer, tokens numeric);
CREATE FUNCTION public.watch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO public.overshoots
    SELECT coalesce('account ' || m.sender_account_id, m.domain, m.project_id::text, 'all'),
           NEW.sent, NEW.reserved, NEW.tokens
      FROM mailqueue.limits AS m
     WHERE m.id = NEW.limit_id
       AND (NEW.sent + NEW.reserved > least(m.daily_limit, m.warm_up[1])
            OR (m.rate_per_second IS NOT NULL AND NEW.tokens < 0));
    RETURN NULL;
END $$;
CREATE TRIGGER watch AFTER INSERT OR UPDATE ON mailqueue.limit_counters
    FOR EACH ROW EXECUTE FUNCTION public.watch();
"""
LOG_BY_ENDING = {
    Ending.SENT: LogStatus.SENT,
    Ending.DEFER: None,
    Ending.RETRY: LogStatus.DEFERRED,
    Ending.FAILED: LogStatus.FAILED,
    Ending.UNKNOWN: LogStatus.UNKNOWN,
}
ENDINGS = (*LOG_BY_ENDING, Ending.SENT)
MAX_TURNS = 40
ROUTE = "SELECT mailqueue.add_route('default', '{second,third}', p_domain => 'example.org')"
BLAME = """
    SELECT mailqueue.report_failures(a.id, array_fill('ambiguous'::text, '{20}'),
               ARRAY(SELECT 'd' || n FROM generate_series(1, 20) AS n),
               array_fill('r'::text, '{20}'))
      FROM mailqueue.sender_accounts AS a WHERE a.name = %s
"""
# Rows of limits are locked in the order of their ids, as claims do.
HALF_OPEN = """
    WITH opened AS MATERIALIZED (
        SELECT id FROM mailqueue.limits WHERE circuit_opened_at IS NOT NULL
         ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE mailqueue.limits AS m
       SET blocked_until = clock_timestamp(),
           circuit_held_until =
               CASE WHEN m.circuit_probe_claim IS NOT NULL THEN m.circuit_held_until END
      FROM opened AS o WHERE o.id = m.id
"""


async def set_up(conn: Conn) -> int:
    """Set every kind of limit; return the account in warm-up."""
    await conn.execute(
        "UPDATE mailqueue.projects SET daily_limit = 120, rate_per_second = 300, burst = 20"
        " WHERE name = 'default'"
    )
    fresh = await make.sender_account(conn, daily_limit=500, warm_up=[35, 70], priority=1)
    await make.sender_account(conn, name="second", rate_per_second=400, burst=15, priority=2)
    await make.sender_account(conn, name="third", is_fallback=True, daily_limit=60, priority=3)
    await conn.execute("SELECT mailqueue.set_max_send_rate(400)")
    await conn.execute(
        "INSERT INTO mailqueue.domain_rates (domain, rate_per_second, burst)"
        " VALUES ('example.org', 30, 3)"
    )
    await conn.execute(WATCH.encode())
    project = await make.project_named(conn)
    await fill(conn, 400, project=project)
    await fill(conn, 40, project=project, domain="example.org")
    return fresh


async def overshoots(conn: Conn) -> list[tuple[object, ...]]:
    return await make.rows(conn, "SELECT * FROM public.overshoots LIMIT 5")


async def look_again(conn: Conn) -> None:
    await end_waits(conn, "blocked_until IS NOT NULL AND blocked_reason <> 'empty'")


async def change_rules(conn: Conn, *, is_added: bool) -> None:
    """Add a rule with its own mail, or remove all rules."""
    if is_added:
        rule = await make.scalar(conn, ROUTE)
        await fill(conn, 5, project=await make.project_named(conn), route=f"rule {rule}")
    else:
        await conn.execute(
            "SELECT mailqueue.remove_route('default', rule_id) FROM mailqueue.routes"
            " WHERE project = 'default'"
        )


async def work(conn: Conn, *, rounds: int, seed: int) -> None:
    """Claim, mark and settle; sometimes be declared lost with all claimed mail."""
    chance, worker = random.Random(seed), await make.worker(conn)
    for _ in range(rounds):
        taken = await claim(conn, worker, limit=chance.randint(1, 30))
        chance.shuffle(taken)
        if taken and chance.random() < 0.2:
            await mark(conn, worker, taken[: len(taken) // 2])
            await lose(conn, worker)
            worker = await make.worker(conn)
            continue
        while taken:
            group = [taken.pop() for _ in range(min(len(taken), chance.randint(1, 7)))]
            ending = chance.choice(ENDINGS)
            spent = int(ending in (Ending.SENT, Ending.UNKNOWN))
            log = LOG_BY_ENDING[ending]
            await settle(conn, group, ending, spent=spent, reason="r", log=log)
        await asyncio.sleep(0.005)


async def test_many_workers_keep_every_limit_at_once(database: DatabaseSettings) -> None:
    async with opened(database, 7) as (conn, *workers):
        fresh = await set_up(conn)

        async def nudge(*, blames: bool) -> None:
            for n in range(80):
                await look_again(conn)
                if n % 10 == 0:
                    await change_rules(conn, is_added=n % 20 == 0)
                    if blames:
                        await conn.execute(BLAME.encode(), (("second", "third")[n % 20 // 10],))
                elif n % 3 == 0:
                    await conn.execute(HALF_OPEN.encode())
                await asyncio.sleep(0.02)

        # Circuits opened at will let little go: every other turn leaves them alone.
        for turn in range(MAX_TURNS):
            async with asyncio.TaskGroup() as group:
                group.create_task(nudge(blames=turn % 2 == 0))
                for n, each in enumerate(workers):
                    group.create_task(work(each, rounds=40, seed=turn * len(workers) + n))
            if (await counted(conn)).sent > 100:
                break

        assert await overshoots(conn) == []
        assert (await counted(conn)).reserved == (await counted(conn, fresh)).reserved == 0
        # The account in warm-up is preferred: without its limit it would have sent nearly all.
        assert 0 < (await counted(conn, fresh)).sent <= 35
        assert 100 < (await counted(conn)).sent <= 120
        assert await difference(conn) == 0


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "claim",
                "sent",
                "retried",
                "deferred",
                "failed",
                "lost",
                "wait",
                "look",
                "blame",
                "rule",
            ]
        ),
        st.integers(0, 2),
        st.integers(1, 30),
    ),
    min_size=5,
    max_size=40,
)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
async def test_any_order_of_steps_keeps_every_limit(
    conn: Conn, steps: list[tuple[str, int, int]]
) -> None:
    async with conn.transaction(force_rollback=True):
        await walk(conn, steps)


async def walk(conn: Conn, steps: list[tuple[str, int, int]]) -> None:
    await set_up(conn)
    workers = [await make.worker(conn) for _ in range(3)]
    held: list[list[object]] = [[], [], []]
    for step, who, count in steps:
        match step:
            case "claim":
                held[who] += await claim(conn, workers[who], limit=count)
            case "lost":
                await lose(conn, workers[who])
                workers[who], held[who] = await make.worker(conn), []
            case "wait":
                await conn.execute(
                    "UPDATE mailqueue.limit_counters"
                    " SET tokens_at = tokens_at - %s * interval '10 ms'",
                    (count,),
                )
            case "look":
                await conn.execute(HALF_OPEN.encode())
                await look_again(conn)
            case "blame":
                await conn.execute(BLAME.encode(), (("second", "third")[count % 2],))
            case "rule":
                await change_rules(conn, is_added=count % 2 == 0)
            case _:
                some, held[who] = held[who][:count], held[who][count:]
                endings = {
                    "sent": Ending.SENT,
                    "retried": Ending.RETRY,
                    "deferred": Ending.DEFER,
                    "failed": Ending.FAILED,
                }
                await settle(conn, some, endings[step], reason="r")  # type: ignore[arg-type]
        assert await overshoots(conn) == [], step
    for worker in workers:
        await lose(conn, worker)
    left = await make.rows(
        conn, "SELECT limit_id, reserved FROM mailqueue.limit_counters WHERE reserved <> 0"
    )
    assert left == [], "a reservation outlived its worker"
