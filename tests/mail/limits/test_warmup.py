"""Limit: an account in warm-up sends what its stage allows; a stage is a day with mail."""

from typing import Any

import pytest
from psycopg.errors import CheckViolation

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from mailqueue.senders.model import DEFAULT_WARM_UP
from tests import make
from tests.mail.claim.steps import claim, counted, lane, sent, settle

pytestmark = pytest.mark.anyio


async def a_day_passes(conn: Conn) -> None:
    """Move everything so far one day into the past, and unblock every lane."""
    await conn.execute("UPDATE mailqueue.limit_counters SET day = day - 1")
    for days in (-1000, 999):  # in two moves: a row may not take the place of one that is to move
        await conn.execute("UPDATE mailqueue.limit_days SET day = day + %s", (days,))
    await conn.execute("UPDATE mailqueue.limits SET warm_up_from = warm_up_from - 1")
    await conn.execute(
        "UPDATE mailqueue.email_queue"
        " SET account_day = account_day - 1, project_day = project_day - 1"
    )
    await look_again(conn)


async def look_again(conn: Conn) -> None:
    await conn.execute(
        "UPDATE mailqueue.lanes SET blocked_until = now(), probed_at = '-infinity'"
        " WHERE blocked_until IS NOT NULL"
    )


async def sends_today(conn: Conn, worker: int) -> int:
    """Claim and send until the day's limit is reached."""
    total = 0
    for _ in range(5):
        total += len(taken := await claim(conn, worker))
        await sent(conn, taken)
        await look_again(conn)
    return total


async def shown(conn: Conn, account: int, columns: str) -> tuple[Any, ...]:
    found = await make.rows(
        conn,
        f"SELECT {columns} FROM mailqueue.sender_headroom WHERE sender_account_id = %s",
        account,
    )
    return found[0]


async def test_each_day_with_mail_is_a_stage_and_then_the_full_limit_holds(conn: Conn) -> None:
    await make.sender_account(conn, daily_limit=9, warm_up=[2, 4, 8])
    await make.queued_emails(conn, 30)
    worker = await make.worker(conn)

    by_day = []
    for _ in range(4):
        by_day.append(await sends_today(conn, worker))
        await a_day_passes(conn)

    assert by_day == [2, 4, 8, 9]


async def test_the_usual_schedule_rises_over_fifteen_days(conn: Conn) -> None:
    account = await make.sender_account(conn, warm_up=list(DEFAULT_WARM_UP), daily_limit=100_000)
    await make.queued_emails(conn, 16)
    worker = await make.worker(conn)

    by_day = []
    for _ in range(16):
        by_day.append((await shown(conn, account, "daily_limit"))[0])
        await sent(conn, await claim(conn, worker, limit=1))
        await a_day_passes(conn)

    first = [200] * 2 + [1_000] * 3 + [5_000] * 5 + [20_000] * 5
    assert by_day == [*first, 100_000], "full from day 16"


async def test_a_day_without_mail_is_no_stage(conn: Conn) -> None:
    account = await make.sender_account(conn, warm_up=[2, 4])
    await make.queued_emails(conn, 10)
    worker = await make.worker(conn)
    assert await sends_today(conn, worker) == 2

    for _ in range(5):
        await a_day_passes(conn)

    assert await shown(conn, account, "warm_up_stage, daily_limit") == (2, 4)
    assert await sends_today(conn, worker) == 4


async def test_a_day_on_which_all_was_given_back_is_no_stage(conn: Conn) -> None:
    account = await make.sender_account(conn, warm_up=[2, 4])
    await make.queued_emails(conn, 10)
    worker = await make.worker(conn)
    await settle(conn, await claim(conn, worker), Ending.DEFER)

    await a_day_passes(conn)

    assert await shown(conn, account, "warm_up_stage, daily_limit") == (1, 2)


async def test_the_accounts_own_limit_holds_during_warm_up_too(conn: Conn) -> None:
    await make.sender_account(conn, daily_limit=3, warm_up=[5, 10])
    await make.queued_emails(conn, 10)

    assert await sends_today(conn, await make.worker(conn)) == 3


async def test_warming_up_shows_until_the_last_stage_is_over(conn: Conn) -> None:
    account = await make.sender_account(conn, warm_up=[3, 6])
    await make.queued_emails(conn, 20)
    worker = await make.worker(conn)
    columns = "status, warm_up_stage, warm_up_stages, daily_limit, headroom"

    seen = [await shown(conn, account, columns)]
    await sent(conn, await claim(conn, worker, limit=1))
    await a_day_passes(conn)
    seen.append(await shown(conn, account, columns))
    assert await sends_today(conn, worker) == 6
    seen.append(await shown(conn, account, columns))
    await a_day_passes(conn)
    seen.append(await shown(conn, account, columns))

    assert seen == [
        ("warming_up", 1, 2, 3, 3),
        ("warming_up", 2, 2, 6, 6),
        ("paused_limit_reached", 2, 2, 6, 0),
        ("active", None, 2, None, None),
    ]


async def test_a_used_up_stage_blocks_the_lane_like_any_daily_limit(conn: Conn) -> None:
    account = await make.sender_account(conn, warm_up=[1])
    await make.queued_emails(conn, 3)
    worker = await make.worker(conn)

    assert await sends_today(conn, worker) == 1

    assert await claim(conn, worker) == []
    assert await lane(conn) == (False, "daily_limit")
    assert (await counted(conn, account)).sent == 1


async def test_warm_up_asked_for_later_begins_on_that_day(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await make.queued_emails(conn, 20)
    worker = await make.worker(conn)
    for _ in range(3):
        await sent(conn, await claim(conn, worker, limit=2))
        await a_day_passes(conn)

    await conn.execute("UPDATE mailqueue.sender_accounts SET warm_up = '{4,5}'")

    assert await shown(conn, account, "warm_up_stage, daily_limit") == (1, 4)


async def test_other_stages_do_not_begin_warm_up_anew(conn: Conn) -> None:
    account = await make.sender_account(conn, warm_up=[2, 4])
    await make.queued_emails(conn, 20)
    worker = await make.worker(conn)
    await sends_today(conn, worker)
    await a_day_passes(conn)

    await conn.execute("UPDATE mailqueue.sender_accounts SET warm_up = '{2,7,9}'")

    assert await shown(conn, account, "warm_up_stage, daily_limit") == (2, 7)
    await conn.execute("UPDATE mailqueue.sender_accounts SET warm_up = NULL")
    assert await shown(conn, account, "warm_up_stage, daily_limit") == (None, None)


@pytest.mark.parametrize("stages", ["{}", "{0}", "{5,-1}", "{5,NULL}"])
async def test_stages_that_make_no_sense_are_refused(conn: Conn, stages: str) -> None:
    account = await make.sender_account(conn)

    with pytest.raises(CheckViolation):
        await conn.execute(
            "UPDATE mailqueue.sender_accounts SET warm_up = %s WHERE id = %s", (stages, account)
        )
