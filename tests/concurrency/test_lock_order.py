"""Changes of accounts and projects lock rows in one order, so that none ends in a deadlock.

The order is: project, sender accounts, lanes, limits. The interleavings that another order cannot
stand are made step by step, each session waiting for a lock before the next goes on.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.events.model import Type
from mailqueue.mail.send.store import claims as claims_store
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.events.test_effects import complained, sent
from tests.mail.claim.steps import LEASE, claim, is_waiting, opened, until_waiting

pytestmark = pytest.mark.anyio
LOCK = "SELECT FROM mailqueue.sender_accounts WHERE id = %s FOR NO KEY UPDATE"
"""What a change of an account begins with."""
CHANGE = "UPDATE mailqueue.sender_accounts SET daily_limit = 77 WHERE id = %s"
PROJECT = "SELECT id FROM mailqueue.projects WHERE name = 'default'"
LIMIT = f"""
    SELECT FROM mailqueue.limits WHERE project_id = ({PROJECT}) AND sender_account_id IS NULL
       FOR NO KEY UPDATE
"""
BESIDE = {
    "an account is preferred": f"SELECT mailqueue.prefer_sender(({PROJECT}), {{first}})",
    "an account is removed": f"SELECT mailqueue.remove_sender(({PROJECT}), {{second}}, 'test')",
    "the sender of a project changes": "UPDATE mailqueue.projects SET from_name = 'New'",
    "DKIM of a project": "UPDATE mailqueue.projects SET is_dkim_required = NOT is_dkim_required",
    "two accounts are paused for their bounces": "SELECT mailqueue.watch_rates()",
}


async def too_many_bounces(conn: Conn, accounts: Sequence[int]) -> None:
    """Record so many bounces of accounts that they are to be paused."""
    for account in accounts:
        await sent(conn, account, 100)
        await complained(conn, account, Type.HARD_BOUNCE, 5)


def running(conn: Conn, statement: str) -> "asyncio.Task[Any]":
    return asyncio.create_task(conn.execute(statement.encode()))


async def waits_before_its_end(conn: Conn, other: Conn, change: "asyncio.Task[Any]") -> bool:
    """Return whether a session waits for a lock, once it does or its statement has ended."""
    for _ in range(3000):
        if await is_waiting(conn, other):
            return True
        if change.done():
            return False
        await asyncio.sleep(0.01)
    raise AssertionError("the statement neither waits for a lock nor ends")


@pytest.mark.parametrize("beside", BESIDE)
async def test_an_account_changes_while(database: DatabaseSettings, beside: str) -> None:
    async with opened(database, 2) as (conn, other):
        first, second = [await make.sender_account(conn) for _ in range(2)]
        await too_many_bounces(conn, [first, second])
        async with conn.transaction():
            await conn.execute(LOCK, (second,))
            done = running(other, BESIDE[beside].format(first=first, second=second))
            await until_waiting(conn, other)

            await conn.execute(CHANGE, (second,))

        await done
        assert await make.scalar(
            conn,
            "SELECT count(*) FROM mailqueue.sender_accounts WHERE id = %s AND daily_limit = 77",
            second,
        ) == (0 if "removed" in beside else 1)


async def test_two_statements_add_accounts_to_the_same_projects_in_opposite_order(
    database: DatabaseSettings,
) -> None:
    """Both wait for lanes of the second project while a third session holds them."""
    async with opened(database, 3) as (holder, one, other):
        projects = [await make.project(holder) for _ in range(2)]
        projects.sort()
        add = """
            INSERT INTO mailqueue.sender_accounts
                   (project_id, name, email, smtp_host, smtp_port, smtp_tls, is_private_ok)
            SELECT p, %s, 'sender@example.com', '127.0.0.1', 25, 'none', true
              FROM unnest(%s::uuid[]) AS p
        """
        async with holder.transaction():
            await holder.execute(
                "SELECT FROM mailqueue.lanes WHERE project_id = %s FOR NO KEY UPDATE",
                (projects[1],),
            )
            backward = asyncio.create_task(one.execute(add, ("a", projects[::-1])))
            await until_waiting(holder, one)
            forward = asyncio.create_task(other.execute(add, ("b", projects)))
            await until_waiting(holder, other)

        await asyncio.gather(backward, forward)

        names = "SELECT DISTINCT route FROM mailqueue.lanes WHERE project_id = ANY (%s)"
        found = {route for (route,) in await (await one.execute(names, (projects,))).fetchall()}
        assert {"a", "b"} <= found


async def test_a_project_changes_while_a_claim_creates_a_lane_and_another_takes_it(
    database: DatabaseSettings,
) -> None:
    """The lane of a domain exists only once the claim that the change waits for commits.

    Which of the two that wait for that claim goes on first is PostgreSQL's choice: turns are
    taken until the change is the second.
    """
    async with opened(database, 5) as (conn, operator, holder, creator, taker):
        await make.sender_account(conn)
        one, two = [await make.worker(conn) for _ in range(2)]
        for turn in range(50):
            domain = f"slow{turn}.example.com"
            await conn.execute(
                "INSERT INTO mailqueue.domain_rates (domain, rate_per_second) VALUES (%s, 1000)",
                (domain,),
            )
            for number in range(3):
                await make.queued_email(conn, recipient_email=f"p{number}@{domain}")
            await claims_store.gather_lanes(conn)

            async with holder.transaction():
                async with creator.transaction():
                    taken = await claims_store.claim(creator, one, limit=10, lease=LEASE)
                    assert taken == [], "its mail moves to a lane of the domain"
                    held = running(holder, LIMIT)
                    await until_waiting(conn, holder)
                    change = running(
                        operator, f"UPDATE mailqueue.projects SET daily_limit = {1000 + turn}"
                    )
                    await until_waiting(conn, operator)
                await held
                waits = await waits_before_its_end(conn, operator, change)
                claims = asyncio.create_task(claim(taker, two))
                await until_waiting(conn, taker)
            await change

            assert len(await claims) + len(await claim(taker, two)) == 3
            if waits:
                return
    raise AssertionError("the change was never the second of those that waited")
