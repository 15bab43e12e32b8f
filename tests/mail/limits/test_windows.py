"""Limit: recipients of an account in any minute and in any hour, to the recipient."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.mail.claim.steps import claim, lane, opened, sent, settle

pytestmark = pytest.mark.anyio
MAX_TURNS = 200
# After each claim that counts in a window: its last minute, or hour, holds no more
# than the limit.
WATCH = """
CREATE TABLE public.overshoots (seconds integer, taken bigint);
CREATE FUNCTION public.watch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO public.overshoots
    SELECT w.seconds, sum(w.taken)
      FROM mailqueue.limit_windows AS w JOIN mailqueue.limits AS m ON m.id = w.limit_id
     WHERE w.limit_id = NEW.limit_id AND w.seconds = NEW.seconds AND w.slot > NEW.slot - 60
       AND (TG_OP = 'INSERT' OR NEW.taken > OLD.taken)
     GROUP BY w.seconds, m.minute_limit, m.hourly_limit
    HAVING sum(w.taken) > CASE w.seconds WHEN 60 THEN m.minute_limit ELSE m.hourly_limit END;
    RETURN NULL;
END $$;
CREATE TRIGGER watch AFTER INSERT OR UPDATE ON mailqueue.limit_windows
    FOR EACH ROW EXECUTE FUNCTION public.watch();
"""
FULL = """
SELECT EXISTS (SELECT FROM mailqueue.lanes WHERE blocked_reason IN ('minute_limit', 'hourly_limit'))
    OR (SELECT sum(taken) >= 40 FROM mailqueue.limit_windows WHERE seconds = 60)
"""
TAKEN = "SELECT coalesce(sum(taken), 0) FROM mailqueue.limit_windows WHERE seconds = %s"


async def pass_seconds(conn: Conn, seconds: int) -> None:
    """Have so much time pass for what was counted, and have lanes be looked at."""
    await conn.execute(
        "UPDATE mailqueue.limit_windows SET slot = slot - %s / (seconds / 60)", (seconds,)
    )
    await look_again(conn)


async def look_again(conn: Conn) -> None:
    """Have lanes be looked at; several sessions may do so beside claims, see `end_waits`."""
    await conn.execute(
        "WITH waiting AS (SELECT id FROM mailqueue.lanes WHERE blocked_until IS NOT NULL"
        "   ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)"
        " UPDATE mailqueue.lanes AS l"
        "    SET blocked_until = clock_timestamp(), probed_at = '-infinity'"
        "   FROM waiting AS w WHERE l.id = w.id"
    )


@pytest.mark.parametrize(("column", "seconds"), [("minute_limit", 60), ("hourly_limit", 3600)])
async def test_a_window_is_never_passed_and_slides(conn: Conn, column: str, seconds: int) -> None:
    limit: dict[str, Any] = {column: 5}
    await make.sender_account(conn, **limit)
    await make.queued_emails(conn, 20)
    worker = await make.worker(conn)
    first = await claim(conn, worker, limit=2)
    await pass_seconds(conn, seconds // 2)

    second = await claim(conn, worker)
    await look_again(conn)
    none = await claim(conn, worker)

    assert (len(first), len(second), none) == (2, 3, [])
    assert await lane(conn) == (False, column)
    margin = max(seconds // 60, 10)  # the test itself takes time too
    await pass_seconds(conn, seconds // 2 - margin)
    assert await claim(conn, worker) == [], "the first two are not yet out of the window"
    await pass_seconds(conn, 3 * margin)
    assert len(await claim(conn, worker)) == 2, "only the first two are out of it"


async def test_a_lane_waits_until_the_oldest_is_out_of_the_window(conn: Conn) -> None:
    await make.sender_account(conn, minute_limit=1)
    await make.queued_emails(conn, 2)
    worker = await make.worker(conn)
    before = await make.scalar(conn, "SELECT clock_timestamp()")
    await sent(conn, await claim(conn, worker))
    after = await make.scalar(conn, "SELECT clock_timestamp()")
    await look_again(conn)
    await claim(conn, worker)

    until = await make.scalar(
        conn,
        "SELECT max(blocked_until) FROM mailqueue.lanes WHERE blocked_reason = 'minute_limit'",
    )

    assert before + timedelta(seconds=58) < until <= after + timedelta(seconds=61)


async def test_places_given_back_are_used_in_the_same_minute(conn: Conn) -> None:
    account = await make.sender_account(conn, minute_limit=3, hourly_limit=100)
    await make.queued_emails(conn, 6)
    worker = await make.worker(conn)
    one, two, three = await claim(conn, worker)
    await sent(conn, [one])

    await settle(conn, [two, three], Ending.DEFER)
    await look_again(conn)

    assert [await make.scalar(conn, TAKEN, seconds) for seconds in (60, 3600)] == [1, 1]
    headroom = await make.rows(
        conn,
        "SELECT hourly_headroom, minute_headroom FROM mailqueue.sender_headroom"
        " WHERE sender_account_id = %s",
        account,
    )
    assert headroom == [(99, 2)]
    assert len(await claim(conn, worker)) == 2


async def test_a_message_with_more_recipients_than_are_left_waits(conn: Conn) -> None:
    await make.sender_account(conn, minute_limit=2)
    big = await make.queued_email(conn, cc=["cy@example.com", "dee@example.com"])
    small = await make.queued_emails(conn, 2)
    worker = await make.worker(conn)

    taken = [email.id for _ in range(2) for email in await claim(conn, worker)]

    assert sorted(taken) == sorted(small)
    assert "minute limit is used up" in await make.scalar(conn, "SELECT mailqueue.why(%s)", big)


async def test_what_is_over_is_forgotten(conn: Conn) -> None:
    account = await make.sender_account(conn, minute_limit=50, hourly_limit=50)
    await make.queued_emails(conn, 4)
    worker = await make.worker(conn)
    await claim(conn, worker, limit=1)
    await pass_seconds(conn, 7200)
    await claim(conn, worker, limit=1)

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.limit_windows") == 2
    await conn.execute("UPDATE mailqueue.sender_accounts SET minute_limit = NULL, hourly_limit = 1")
    assert await make.rows(
        conn,
        "SELECT hourly_limit, minute_limit FROM mailqueue.limits WHERE sender_account_id = %s",
        account,
    ) == [(1, None)]


async def test_many_claimers_never_pass_a_window_by_one(database: DatabaseSettings) -> None:
    async with opened(database, 5) as (conn, *workers):
        await make.sender_account(conn, minute_limit=40, hourly_limit=60)
        await conn.execute(WATCH.encode())
        await make.queued_emails(conn, 200)
        given_back, is_full = 0, False

        async def work(each: Conn) -> None:
            nonlocal given_back, is_full
            worker = await make.worker(each)
            for turn in range(MAX_TURNS):
                taken = await claim(each, worker, limit=7)
                if taken and turn % 3 == 0:  # always of a claimer's first emails
                    await settle(each, taken[:1], Ending.DEFER)
                    given_back += 1
                    taken = taken[1:]
                await sent(each, taken)
                await look_again(each)
                is_full = is_full or bool(await make.scalar(each, FULL))
                if is_full and given_back > 0:
                    return

        await asyncio.gather(*map(work, workers))

        assert await make.rows(conn, "SELECT * FROM public.overshoots LIMIT 5") == []
        assert given_back > 0
        assert is_full
