"""Failures of sender accounts are recorded, and lanes wait for them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from mailqueue.core.verdict import Fault, Rejected, Stage
from mailqueue.db.fetch import Conn
from mailqueue.db.link import Link
from mailqueue.db.pool import connect
from mailqueue.mail.send.account_health import MAX_KEPT_FAILURES, AccountHealth
from mailqueue.settings.environment import DatabaseSettings
from tests import make

pytestmark = pytest.mark.anyio

LISTED = Rejected(Fault.INFRASTRUCTURE, "554", "554 5.7.1 listed", Stage.RCPT)
CIRCUIT = "SELECT circuit FROM mailqueue.sender_health WHERE sender_account_id = %s"
COUNT = "SELECT count(*) FROM mailqueue.sender_failures"


@asynccontextmanager
async def writing(database: DatabaseSettings, health: AccountHealth) -> AsyncIterator[Conn]:
    """Have it write what it was told, and look on."""
    task = asyncio.create_task(health.run())
    try:
        async with connect(database, application_name="test") as conn:
            yield conn
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(conn: Conn, query: str, *params: object, is_: object) -> None:
    for _ in range(3000):
        if await make.scalar(conn, query, *params) == is_:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came true")


async def test_mails_that_fail_for_the_accounts_reasons_open_its_circuit(
    database: DatabaseSettings,
) -> None:
    health = AccountHealth(Link(database, "test/account_health"))
    async with writing(database, health) as conn:
        account = await make.sender_account(conn)

        for n in range(20):
            health.email_failed(account, LISTED, f"ann@D{n}.example", uuid4())

        await until(conn, CIRCUIT, account, is_="open")
        domains = "SELECT max(domain) FROM mailqueue.sender_failures"
        assert await make.scalar(conn, domains) == "d9.example"


async def test_of_very_many_the_newest_are_written(database: DatabaseSettings) -> None:
    health = AccountHealth(Link(database, "test/account_health"))
    for n in range(MAX_KEPT_FAILURES + 50):
        health.email_failed(1, LISTED, f"ann@d{n}.example", uuid4())

    async with writing(database, health) as conn:
        await until(conn, COUNT, is_=MAX_KEPT_FAILURES)

        gone = f"{COUNT} WHERE domain = 'd0.example'"
        assert await make.scalar(conn, gone) == 0


async def test_how_long_a_provider_asks_us_to_wait_holds_for_every_process(
    database: DatabaseSettings,
) -> None:
    """Otherwise every process would be told so by the provider."""
    health = AccountHealth(Link(database, "test/account_health"))
    left = (
        "SELECT round(extract(epoch FROM blocked_until - clock_timestamp()) / 60)::integer"
        " FROM mailqueue.limits WHERE sender_account_id = %s"
    )
    async with writing(database, health) as conn:
        account = await make.sender_account(conn)
        fast = Rejected(Fault.RATE_LIMITED, "429", "too fast", Stage.DOT)
        for minutes, waits in ((7, 7), (48 * 60, 24 * 60), (2, 24 * 60)):
            health.account_failed(account, replace(fast, retry_after=timedelta(minutes=minutes)))
            await until(conn, left, account, is_=waits)

        seen = (
            "SELECT failures, recommendation FROM mailqueue.sender_health"
            " WHERE sender_account_id = %s"
        )
        [(failures, recommendation)] = await make.rows(conn, seen, account)
        assert set(failures) == {"rate_limited"}
        assert recommendation.startswith("it asks us to wait")


async def test_a_server_that_names_no_time_is_not_said_to_be_away(
    database: DatabaseSettings,
) -> None:
    health = AccountHealth(Link(database, "test/account_health"))
    kinds = "SELECT array_agg(kind) FROM mailqueue.sender_failures WHERE sender_account_id = %s"
    async with writing(database, health) as conn:
        account = await make.sender_account(conn)
        health.account_failed(account, Rejected(Fault.RATE_LIMITED, "429", "too fast", Stage.DOT))
        await until(conn, kinds, account, is_=["rate_limited"])
