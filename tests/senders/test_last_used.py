"""Limit: when a sender account was last used is known without a write to it for each mail."""

from datetime import datetime
from functools import partial
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.queue.rescue import rescuing
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.concurrency.running import until
from tests.mail.claim.steps import claim, opened, sent

pytestmark = pytest.mark.anyio
VIEWED = "SELECT last_used_at FROM mailqueue.sender_headroom WHERE sender_account_id = %s"
STORED = "SELECT last_used_at FROM mailqueue.sender_accounts WHERE id = %s"
NOTE = "SELECT mailqueue.note_sender_use()"


async def use(conn: Conn) -> None:
    await make.queued_email(conn)
    await sent(conn, await claim(conn, await make.worker(conn)))


async def row(conn: Conn, account: int) -> dict[str, Any]:
    """Return an account without its last use, and how its limit and lanes are."""
    text = (
        "SELECT jsonb_build_object('account', to_jsonb(a) - 'last_used_at', 'limit', to_jsonb(m),"
        " 'lanes', (SELECT jsonb_agg(l.xmin::text || l.ctid::text ORDER BY l.id)"
        " FROM mailqueue.lanes AS l WHERE l.project_id = a.project_id))"
        " FROM mailqueue.sender_accounts AS a"
        " JOIN mailqueue.limits AS m ON m.sender_account_id = a.id WHERE a.id = %s"
    )
    found: dict[str, Any] = await make.scalar(conn, text, account)
    return found


async def age(conn: Conn, account: int, interval: str) -> None:
    """Have so much time pass since the last use that was noted."""
    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET last_used_at = last_used_at - %s::interval"
        " WHERE id = %s",
        (interval, account),
    )


async def test_an_account_shows_when_it_was_last_used(conn: Conn) -> None:
    account = await make.sender_account(conn)
    assert await make.scalar(conn, VIEWED, account) is None

    await use(conn)

    since = f"SELECT clock_timestamp() - ({VIEWED}) BETWEEN '0 s' AND '1 min'"
    assert await make.scalar(conn, since, account)
    assert await make.scalar(conn, STORED, account) is None


async def test_the_last_use_is_noted_in_the_account_and_is_no_change_of_it(conn: Conn) -> None:
    account = await make.sender_account(conn)
    idle = await make.sender_account(conn, name="idle")
    await use(conn)
    before = await row(conn, account)

    assert await make.scalar(conn, NOTE) == 1

    stored = await make.scalar(conn, STORED, account)
    assert isinstance(stored, datetime)
    assert stored == await make.scalar(conn, VIEWED, account)
    assert await make.scalar(conn, STORED, idle) is None
    assert await row(conn, account) == before


async def test_it_is_noted_once_a_minute_and_the_view_is_fresh(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await use(conn)
    await make.scalar(conn, NOTE)
    first = await make.scalar(conn, STORED, account)
    await use(conn)

    assert await make.scalar(conn, NOTE) == 0
    newest = await make.scalar(conn, VIEWED, account)
    assert newest > first
    await age(conn, account, "1 min")

    assert await make.scalar(conn, NOTE) == 1
    assert await make.scalar(conn, STORED, account) == newest
    await age(conn, account, "1 min")
    assert await make.scalar(conn, NOTE) == 1, "the last use of an idle account is not lost"
    assert await make.scalar(conn, NOTE) == 0


async def test_a_change_beside_the_last_use_counts(conn: Conn) -> None:
    """Workers notice changes of an account by its revision."""
    account = await make.sender_account(conn)
    before = await row(conn, account)

    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET last_used_at = now(), daily_limit = 7 WHERE id = %s",
        (account,),
    )

    after = await row(conn, account)
    assert after["account"]["revision"] == before["account"]["revision"] + 1
    assert after["limit"]["daily_limit"] == 7


async def test_an_account_that_is_being_changed_is_left_to_the_next_time(
    database: DatabaseSettings,
) -> None:
    async with opened(database, 2) as (conn, other):
        await make.sender_account(conn)
        await use(conn)
        async with other.transaction():
            await other.execute("SELECT FROM mailqueue.sender_accounts FOR UPDATE")
            assert await make.scalar(conn, NOTE) == 0

        assert await make.scalar(conn, NOTE) == 1


async def test_workers_note_it_by_themselves(database: DatabaseSettings) -> None:
    async with opened(database, 1) as (conn,):
        account = await make.sender_account(conn)
        await use(conn)

        async with rescuing(database):
            stored = await until(partial(make.scalar, conn, STORED, account))

        assert stored == await make.scalar(conn, VIEWED, account)
