"""Limit: what accounts and projects may send, exact to the recipient, with any number of
workers.
"""

from datetime import timedelta
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from tests import make
from tests.mail.claim.steps import claim, counted, lane, row, sent, settle

pytestmark = pytest.mark.anyio


async def yesterday(conn: Conn) -> None:
    """Move everything that was counted so far to yesterday."""
    await conn.execute("UPDATE mailqueue.limit_counters SET day = day - 1")
    await conn.execute(
        "UPDATE mailqueue.email_queue"
        " SET account_day = account_day - 1, project_day = project_day - 1"
    )


async def look_again(conn: Conn) -> None:
    """End every block of a lane now."""
    await conn.execute(
        "UPDATE mailqueue.lanes SET blocked_until = now(), probed_at = '-infinity'"
        " WHERE blocked_until IS NOT NULL"
    )


async def refused(conn: Conn, worker: int) -> None:
    """Claim until the lane waits for its limit: it first checks again what a claim used up."""
    assert await claim(conn, worker) == []
    await look_again(conn)
    assert await claim(conn, worker) == []


async def days(conn: Conn, account: int) -> list[tuple[Any, ...]]:
    return await make.rows(
        conn,
        "SELECT current_date - day, sent, reserved FROM mailqueue.sender_account_days"
        " WHERE sender_account_id = %s ORDER BY day DESC",
        account,
    )


async def test_a_daily_limit_is_reached_and_never_passed(conn: Conn) -> None:
    account = await make.sender_account(conn, daily_limit=5)
    await make.queued_emails(conn, 9)
    worker = await make.worker(conn)

    first = await claim(conn, worker, limit=3)
    second = await claim(conn, worker, limit=50)
    await refused(conn, worker)

    assert (len(first), len(second)) == (3, 2)
    assert (await counted(conn, account)).reserved == 5
    assert await lane(conn) == (False, "daily_limit")


async def test_places_given_back_are_used_the_same_day(conn: Conn) -> None:
    """A lane waiting for its limit is checked every few seconds while recipients are reserved."""
    account = await make.sender_account(conn, daily_limit=3)
    await make.queued_emails(conn, 6)
    worker = await make.worker(conn)
    one, two, three = await claim(conn, worker)
    await refused(conn, worker)
    soon = await make.scalar(
        conn,
        "SELECT max(blocked_until) < now() + interval '10 s' FROM mailqueue.lanes"
        " WHERE blocked_reason = 'daily_limit'",
    )
    assert soon is True

    await sent(conn, [one])
    await settle(conn, [two, three], Ending.DEFER)
    await look_again(conn)

    assert len(await claim(conn, worker)) == 2
    assert (await counted(conn, account)).sent == 1
    assert (await counted(conn, account)).reserved == 2


async def test_with_no_place_out_a_lane_waits_for_the_next_day(conn: Conn) -> None:
    await make.sender_account(conn, daily_limit=1)
    await make.queued_emails(conn, 2)
    worker = await make.worker(conn)
    await sent(conn, await claim(conn, worker))

    await refused(conn, worker)

    until = await make.scalar(
        conn, "SELECT max(blocked_until) FROM mailqueue.lanes WHERE blocked_reason = 'daily_limit'"
    )
    assert until == await make.scalar(
        conn, "SELECT ((now() AT TIME ZONE 'UTC')::date + 1)::timestamp AT TIME ZONE 'UTC'"
    )


async def test_a_new_day_starts_at_zero_and_yesterdays_places_settle_there(conn: Conn) -> None:
    account = await make.sender_account(conn, daily_limit=4)
    await make.queued_emails(conn, 8)
    worker = await make.worker(conn)
    first, second, third, fourth = await claim(conn, worker)
    await sent(conn, [first])
    await yesterday(conn)
    await look_again(conn)

    today = await claim(conn, worker)
    await sent(conn, [second])
    await settle(conn, [third, fourth], Ending.DEFER)

    assert len(today) == 4
    assert await days(conn, account) == [(0, 0, 4), (1, 2, 0)]
    assert await make.rows(conn, "SELECT sent, reserved FROM mailqueue.limit_days") == [
        (2, 0),
        (2, 0),
    ]  # of the account and of the project


async def test_a_day_never_goes_back(conn: Conn) -> None:
    """A claim that began before midnight may reserve after one that began after it."""
    account = await make.sender_account(conn, daily_limit=3)
    await make.queued_emails(conn, 6)
    worker = await make.worker(conn)
    await sent(conn, await claim(conn, worker, limit=2))
    await conn.execute("UPDATE mailqueue.limit_counters SET day = day + 1")
    await look_again(conn)

    late = await claim(conn, worker)

    assert len(late) == 1
    await sent(conn, late)
    assert (await counted(conn, account)).sent == 3
    assert (await counted(conn, account)).reserved == 0


async def test_an_account_has_its_own_midnight(conn: Conn) -> None:
    zone = await make.scalar(
        conn,
        "SELECT CASE WHEN extract(hour FROM now() AT TIME ZONE 'UTC') < 12"
        " THEN 'Etc/GMT+12' ELSE 'Etc/GMT-12' END",
    )
    account = await make.sender_account(conn, time_zone=zone)
    await make.queued_email(conn)
    (email,) = await claim(conn, await make.worker(conn))

    account_day, project_day = await row(conn, email.id, "account_day, project_day")

    assert account_day != project_day
    await sent(conn, [email])
    assert (await counted(conn, account)).sent == (await counted(conn)).sent == 1


async def test_project_and_account_limits_hold_together(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.projects SET daily_limit = 5 WHERE name = 'default'")
    small = await make.sender_account(conn, name="small", daily_limit=3, priority=1)
    big = await make.sender_account(conn, name="big", priority=2)
    await make.queued_emails(conn, 9)
    worker = await make.worker(conn)

    taken = []
    for _ in range(4):
        taken += await claim(conn, worker)
        await look_again(conn)

    by_account = [email.assigned_to for email in taken]
    assert (by_account.count(small), by_account.count(big)) == (3, 2)
    assert (await counted(conn)).reserved == 5
    await refused(conn, worker)
    assert await lane(conn) == (False, "daily_limit")


async def test_recipients_are_counted_not_messages(conn: Conn) -> None:
    account = await make.sender_account(conn, daily_limit=4)
    await make.queued_email(conn, cc=["cy@example.com", "dee@example.com"])
    await make.queued_emails(conn, 3)
    worker = await make.worker(conn)

    taken = [email for _ in range(3) for email in await claim(conn, worker)]

    assert sum(email.recipients for email in taken) == 4
    assert (await counted(conn, account)).reserved == 4


@pytest.mark.parametrize("big", [1, 5])
async def test_messages_too_big_for_the_rest_of_the_day_block_none_behind_them(
    conn: Conn, big: int
) -> None:
    await make.sender_account(conn, daily_limit=2)
    for _ in range(big):
        await make.queued_email(conn, cc=["cy@example.com", "dee@example.com"])
    small = await make.queued_emails(conn, 2)
    worker = await make.worker(conn)

    taken = []
    for _ in range(3):
        taken += await claim(conn, worker)
        await look_again(conn)

    assert sorted(email.id for email in taken) == sorted(small)


async def test_a_message_bigger_than_a_batch_goes_all_the_same(conn: Conn) -> None:
    """A batch size is the number of mails of a claim; it is no limit of its own."""
    await make.sender_account(conn, batch_size=1, rate_per_second=1, burst=1)
    email = await make.queued_email(conn, cc=["cy@example.com", "dee@example.com"])
    worker = await make.worker(conn)

    assert [one.id for one in await claim(conn, worker, limit=2)] == [email]


async def test_a_rate_gives_its_burst_and_then_waits(conn: Conn) -> None:
    account = await make.sender_account(conn, rate_per_second=2, burst=3)
    await make.queued_emails(conn, 9)
    worker = await make.worker(conn)

    assert len(await claim(conn, worker)) == 3
    await refused(conn, worker)

    assert await lane(conn) == (False, "rate")
    assert (await counted(conn, account)).tokens == pytest.approx(0, abs=0.5)

    await conn.execute("UPDATE mailqueue.limit_counters SET tokens_at = tokens_at - interval '1 s'")
    await look_again(conn)
    assert len(await claim(conn, worker)) == 2


async def test_a_rate_goes_on_after_the_clock_was_set_back(conn: Conn) -> None:
    """Otherwise nothing would be allowed until the clock has caught up."""
    account = await make.sender_account(conn, rate_per_second=2, burst=3)
    await make.queued_emails(conn, 9)
    worker = await make.worker(conn)
    await claim(conn, worker)
    ahead = "UPDATE mailqueue.limit_counters SET tokens_at = tokens_at + interval '1 day'"
    await conn.execute(ahead.encode())
    await look_again(conn)

    assert len(await claim(conn, worker)) == 1
    await refused(conn, worker)

    assert (await counted(conn, account)).tokens == pytest.approx(-1, abs=0.5)
    await conn.execute("UPDATE mailqueue.limit_counters SET tokens_at = tokens_at - interval '2 s'")
    await look_again(conn)
    assert len(await claim(conn, worker)) == 3


async def test_a_rate_counts_what_is_given_back(conn: Conn) -> None:
    account = await make.sender_account(conn, rate_per_second=0.001, burst=3)
    await make.queued_emails(conn, 3)
    worker = await make.worker(conn)
    taken = await claim(conn, worker)

    await settle(conn, taken[:2], Ending.DEFER)

    assert (await counted(conn, account)).tokens == pytest.approx(2, abs=0.1)


async def test_a_send_delay_is_a_rate_shared_by_all_workers(conn: Conn) -> None:
    await make.sender_account(conn, send_delay_ms=60_000)
    await make.queued_emails(conn, 3)
    workers = [await make.worker(conn), await make.worker(conn)]

    taken = [len(await claim(conn, worker)) for worker in workers]

    assert sorted(taken) == [0, 1]


async def test_what_may_have_been_sent_keeps_its_place(conn: Conn) -> None:
    account = await make.sender_account(conn, daily_limit=2)
    await make.queued_emails(conn, 4)
    worker = await make.worker(conn)
    first, second = await claim(conn, worker)

    await settle(conn, [first], Ending.UNKNOWN, spent=1, wait=timedelta(minutes=5))
    await settle(conn, [second], Ending.FAILED, reason="no", log=LogStatus.REJECTED)
    await look_again(conn)

    assert len(await claim(conn, worker)) == 1
    assert (await counted(conn, account)).sent == 1


async def test_a_blocked_lanes_rows_are_not_touched(conn: Conn) -> None:
    """Flat: waiting mail is neither read nor written."""
    await make.sender_account(conn, daily_limit=0)
    await make.queued_emails(conn, 20)
    worker = await make.worker(conn)
    before = await make.rows(conn, "SELECT ctid::text, xmax::text FROM mailqueue.email_queue")

    for _ in range(3):
        assert await claim(conn, worker) == []

    after = await make.rows(conn, "SELECT ctid::text, xmax::text FROM mailqueue.email_queue")
    assert after == before
    assert await lane(conn) == (False, "daily_limit")
