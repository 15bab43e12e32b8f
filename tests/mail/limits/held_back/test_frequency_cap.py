"""Limit: a recipient gets no more marketing than the cap of the project allows."""

import asyncio
from datetime import timedelta

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.mail.model import Ending, MarkVerdict
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, due_now, mark, settle
from tests.mail.limits.held_back.marketing import (
    change,
    handled,
    later,
    marketing,
    now,
    waits,
)

pytestmark = pytest.mark.anyio


async def test_mail_above_the_cap_waits_until_the_oldest_no_longer_counts(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await change(conn, frequency_cap="2/7d")
    first = await marketing(conn)
    assert await handled(conn, worker) == [first]
    await later(conn, days=3)
    second, third, fourth = [
        await marketing(conn, to)
        for to in ("Ann@EXAMPLE.com", "ann@example.com", "ann@example.com")
    ]
    other = await marketing(conn, "bob@example.com")

    assert set(await handled(conn, worker)) == {second, other}

    until, why = await waits(conn, third)
    assert why == "frequency cap, 2 marketing mails to a recipient in 7 days"
    assert abs(until - await now(conn) - timedelta(days=4)) < timedelta(minutes=1)

    await later(conn, days=4, seconds=1)
    assert await handled(conn, worker) == [third]
    assert abs((await waits(conn, fourth))[0] - await now(conn) - timedelta(days=3)) < timedelta(
        minutes=1
    )


async def test_a_mail_counts_once_however_often_it_is_tried(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await change(conn, frequency_cap="1/1d")
    email = await marketing(conn)

    for _ in range(3):
        claimed = await claim(conn, worker)
        marks = await mark(conn, worker, claimed)
        assert marks[email].verdict is MarkVerdict.GO
        await settle(conn, claimed, Ending.DEFER, wait=timedelta(seconds=1))
        await due_now(conn)
    [(ids,)] = await make.rows(conn, "SELECT email_ids FROM mailqueue.marketing_counts")
    assert ids == [email]


async def test_projects_count_apart_and_other_categories_do_not(conn: Conn) -> None:
    shop = await make.project(conn, "shop")
    await make.sender_account(conn)
    await make.sender_account(conn, project_id=shop)
    worker = await make.worker(conn)
    await change(conn, frequency_cap="1/1d")
    mails = [
        await marketing(conn),
        await marketing(conn, project="shop"),
        await marketing(conn, project="shop"),
        await make.queued_email(conn, recipient_email="ann@example.com"),
    ]

    assert set(await handled(conn, worker)) == set(mails)


async def test_workers_that_mark_together_do_not_overshoot_and_do_not_deadlock(
    database: DatabaseSettings,
) -> None:
    people = [f"p{number}@example.com" for number in range(5)]

    async def work() -> None:
        async with connect(database) as own:
            worker = await make.worker(own)
            for _ in range(10):
                await handled(own, worker, limit=7)

    async with connect(database) as conn:
        await make.sender_account(conn)
        await change(conn, frequency_cap="3/1d")
        for number in range(40):
            await marketing(conn, people[number % 5], also_to=[people[(3 * number + 1) % 5]])
        await asyncio.gather(*(work() for _ in range(4)))

        found = await make.rows(
            conn, "SELECT DISTINCT cardinality(email_ids) FROM mailqueue.marketing_counts"
        )
        sent = "SELECT count(*) FROM mailqueue.email_history WHERE status = 'sent'"
        assert found == [(3,)]
        assert 3 * len(people) / 2 <= await make.scalar(conn, sent) <= 3 * len(people)


async def test_an_erased_person_leaves_no_count(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await change(conn, frequency_cap="3/1d")
    await marketing(conn)
    await handled(conn, worker)

    project = await make.project_named(conn)
    await make.scalar(
        conn, "SELECT mailqueue.begin_erasure(%s, %s, true, 'tests')", project, ["ann@example.com"]
    )

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.marketing_counts") == 0
