"""Routing: the accounts of mail that names none, and what happens when rules are removed."""

import asyncio
from typing import Any

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.accept.intakes import WAYS, NotAccepted, plain
from tests.mail.claim.steps import claim, counted, difference, end_waits, lose, opened, sent, settle

pytestmark = pytest.mark.anyio


async def add(conn: Conn, *senders: str, **fits: Any) -> int:
    """Add a rule to the default project."""
    named = "".join(f", p_{name} => %({name})s" for name in fits)
    asked = f"SELECT mailqueue.add_route('default', %(senders)s::text[]{named})"
    found = await conn.execute(asked.encode(), {"senders": list(senders), **fits})
    row = await found.fetchone()
    assert row is not None
    return int(row[0])


async def remove(conn: Conn, rule: int) -> bool:
    asked = "SELECT mailqueue.remove_route('default', %s)"
    return bool(await make.scalar(conn, asked, rule))


async def three(conn: Conn) -> dict[int, str]:
    """Create accounts main, bulk and spare; return their names by id."""
    return {
        await make.sender_account(conn, name=name, priority=place): name
        for place, name in enumerate(("main", "bulk", "spare"))
    }


async def taken(conn: Conn, names: dict[int, str]) -> list[str]:
    """Claim all due mail; return the names of its accounts."""
    found = await claim(conn, await make.worker(conn))
    return sorted(names[email.assigned_to] for email in found)


@pytest.mark.parametrize("way", sorted(WAYS))
async def test_a_rule_holds_whichever_way_mail_comes_in(conn: Conn, way: str) -> None:
    names = await three(conn)
    await add(conn, "bulk", category="marketing")

    await WAYS[way](conn, **plain(category="marketing"))
    await WAYS[way](conn, **plain())

    assert await taken(conn, names) == ["bulk", "main"]


@pytest.mark.parametrize(
    ("fits", "columns", "does"),
    [
        ({"category": "marketing"}, {"category": "marketing"}, True),
        ({"category": "marketing"}, {"category": "system"}, False),
        ({"tag": "vip"}, {"tags": ["x", "vip"]}, True),
        ({"tag": "vip"}, {"tags": ["x"]}, False),
        ({"tag": "vip"}, {}, False),
        ({"domain": "example.com"}, {"recipient_email": "a@Example.com"}, True),
        ({"domain": "example.com"}, {"recipient_email": "a@mx.example.com"}, False),
        ({"domain": "*.example.com"}, {"recipient_email": "a@b.mx.EXAMPLE.com"}, True),
        ({"domain": "*.example.com"}, {"recipient_email": "a@example.com"}, False),
        ({"domain": "*.example.com"}, {"recipient_email": "a@notexample.com"}, False),
        ({"domain": "*.EXAMPLE.com"}, {"recipient_email": "a@mx.example.com"}, True),
        ({"domain": "*._x.com"}, {"recipient_email": "a@mx.ax.com"}, False),
        ({"domain": "example.com", "tag": "vip"}, {"tags": ["vip"]}, True),
        ({"domain": "example.com", "tag": "vip"}, {}, False),
    ],
)
async def test_what_fits_a_rule(
    conn: Conn, fits: dict[str, str], columns: dict[str, Any], does: bool
) -> None:
    names = await three(conn)
    await add(conn, "bulk", **fits)

    await make.queued_email(conn, **columns)

    assert await taken(conn, names) == ["bulk" if does else "main"]


async def test_the_first_rule_that_fits_counts(conn: Conn) -> None:
    names = await three(conn)
    await add(conn, "bulk", domain="example.com")
    await add(conn, "spare", tag="vip", position=1)

    await make.queued_email(conn, tags=["vip"])
    await make.queued_email(conn)

    assert await taken(conn, names) == ["bulk", "spare"]


async def test_a_mail_that_names_its_account_follows_no_rule(conn: Conn) -> None:
    names = await three(conn)
    rule = await add(conn, "bulk", domain="example.com")

    await make.queued_email(conn, sender="spare")

    assert await taken(conn, names) == ["spare"]
    for way in ("insert", "batch"):
        with pytest.raises(NotAccepted, match="no sender account"):
            await WAYS[way](conn, **plain(sender=f"rule {rule}"))


async def test_a_rules_accounts_are_tried_in_its_order(conn: Conn) -> None:
    names = await three(conn)
    await conn.execute("UPDATE mailqueue.sender_accounts SET daily_limit = 1 WHERE name = 'spare'")
    await add(conn, "spare", "bulk", domain="example.com")
    await make.queued_emails(conn, 3)

    assert await taken(conn, names) == ["bulk", "bulk", "spare"]


async def test_mail_of_a_rule_that_is_gone_takes_the_projects_accounts(conn: Conn) -> None:
    names = await three(conn)
    rule = await add(conn, "bulk", domain="example.com")
    await conn.execute("UPDATE mailqueue.sender_accounts SET status = 'paused' WHERE name = 'bulk'")
    email = await make.queued_email(conn)
    assert await taken(conn, names) == []
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", email)
    assert "routing rule at position 1" in why
    assert "bulk" in why

    assert await remove(conn, rule)

    assert await taken(conn, names) == ["main"]
    assert not await remove(conn, rule)
    await make.queued_email(conn)
    assert await taken(conn, names) == ["main"]


async def test_rules_leave_a_trace(conn: Conn) -> None:
    await three(conn)
    await remove(conn, await add(conn, "bulk", "main", tag="vip"))

    found = await make.rows(
        conn,
        "SELECT action, detail FROM mailqueue.audit_events WHERE action ~ '^route' ORDER BY id",
    )

    assert found == [
        ("route.added", {"tag": "vip", "senders": ["bulk", "main"]}),
        ("route.removed", {}),
    ]


@pytest.mark.parametrize(
    ("senders", "fits", "names_it"),
    [
        (["main"], {}, "category"),
        (["main"], {"category": "Not One"}, "category"),
        (["main"], {"domain": "a b"}, "domain"),
        (["main"], {"domain": "*.*.com"}, "domain"),
        (["main"], {"tag": ""}, "tag"),
        (["main"], {"tag": "x", "position": 0}, "position"),
        (["nobody"], {"tag": "x"}, "sender"),
        (["main", "main"], {"tag": "x"}, "sender"),
        (["trap"], {"tag": "x"}, "sender"),
        ([], {"tag": "x"}, "sender"),
    ],
)
async def test_a_faulty_rule_is_refused_by_name(
    conn: Conn, senders: list[str], fits: dict[str, Any], names_it: str
) -> None:
    await three(conn)
    await make.sender_account(conn, provider="trap", name="trap")

    with pytest.raises(errors.InvalidParameterValue) as refusal:
        await add(conn, *senders, **fits)

    assert refusal.value.diag.column_name == names_it


async def test_a_rule_written_by_hand_names_accounts_of_its_own_project(conn: Conn) -> None:
    other = await make.sender_account(conn, project_id=await make.project(conn))

    with pytest.raises(errors.InvalidParameterValue):
        await conn.execute(
            "INSERT INTO mailqueue.routing_rules (project_id, position, tag, accounts)"
            " VALUES (%s, 1, 'x', %s)",
            (await make.project_named(conn), [other]),
        )


async def test_a_fallback_waits_while_another_account_may_send(conn: Conn) -> None:
    names = await three(conn)
    await conn.execute(
        "UPDATE mailqueue.sender_accounts"
        " SET is_fallback = name = 'main', batch_size = CASE name WHEN 'main' THEN 9 ELSE 2 END"
    )
    await make.queued_emails(conn, 9)

    # Those before it have had their batches; only what they may not send is for it.
    assert await taken(conn, names) == ["bulk", "bulk", "spare", "spare"]

    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET status = 'paused' WHERE name <> 'main'"
    )
    assert await taken(conn, names) == ["main"] * 5


async def test_many_workers_keep_limits_and_lose_nothing_while_rules_change(
    database: DatabaseSettings,
) -> None:
    """Limit, Books."""
    async with opened(database, 6) as (conn, ruler, *workers):
        names = await three(conn)
        await conn.execute(
            "UPDATE mailqueue.sender_accounts SET daily_limit = 40, is_fallback = name = 'spare'"
        )
        is_over = False

        async def rule() -> None:
            for n in range(12):
                one = await add(ruler, "bulk", "main", domain="example.com")
                await make.queued_emails(ruler, 12, tags=["vip"] if n % 2 else None)
                await add(ruler, "spare", "main", tag="vip", position=1)
                await ruler.execute("SELECT mailqueue.rest_sender(%s, 'away')", (min(names),))
                if n % 3 == 0:
                    await remove(ruler, one)
                await asyncio.sleep(0.01)

        async def work(each: Conn, seed: int) -> None:
            worker = await make.worker(each)
            n = seed
            while not is_over:
                n += 1
                await end_waits(each, "blocked_reason NOT IN ('empty', 'not_due')")
                found = await claim(each, worker, limit=7)
                if n % 5 == 0:
                    await lose(each, worker)
                    worker = await make.worker(each)
                elif n % 3 == 0:
                    await settle(each, found, Ending.DEFER, reason="r")
                else:
                    await sent(each, found)
                await asyncio.sleep(0.005)

        async with asyncio.TaskGroup() as group:
            for seed, each in enumerate(workers):
                group.create_task(work(each, seed))
            await rule()
            await asyncio.sleep(1)
            is_over = True

        for account in names:
            used = await counted(conn, account)
            assert used.sent + used.reserved <= 40
        await conn.execute("SELECT mailqueue.gather_lanes()")
        assert await difference(conn) == 0
        assert await make.scalar(conn, "SELECT sum(emails) FROM mailqueue.accepted_days") == 144
