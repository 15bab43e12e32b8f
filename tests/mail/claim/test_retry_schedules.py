"""When temporarily refused mail is retried: schedules, soft bounces, jitter."""

from datetime import timedelta
from typing import Any

import pytest
from psycopg.errors import CheckViolation

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import ClaimedEmail, Ending, LogStatus
from tests import make
from tests.mail.claim.filling import fill
from tests.mail.claim.steps import claim, due_now, row, settle

pytestmark = pytest.mark.anyio
DEFERRED = {"reason": "busy", "log": LogStatus.DEFERRED}
FULL = {"reason": "mailbox full", "log": LogStatus.BOUNCED}
DAY = timedelta(days=1)


async def schedule(conn: Conn, *steps: str, category: str = "", **columns: object) -> None:
    names = "".join(f", {name}" for name in columns)
    places = ", %s" * len(columns)
    await conn.execute(
        f"INSERT INTO mailqueue.retry_ladders (project_id, category, steps{names})"
        f" SELECT id, %s, %s::interval[]{places} FROM mailqueue.projects WHERE name = 'default'",
        (category, list(steps), *columns.values()),
    )


async def journey(conn: Conn, *, most: int = 8, says: dict[str, Any] = DEFERRED) -> list[timedelta]:
    """Refuse the one mail until it fails, or that many times; return its waits."""
    worker = await make.worker(conn)
    waits = []
    for _ in range(most):
        taken = await claim(conn, worker)
        if not taken:
            break
        await settle(conn, taken, Ending.RETRY, **says)
        waits += await waits_of(conn, taken)
        await due_now(conn)
    return waits


async def waits_of(conn: Conn, taken: list[ClaimedEmail]) -> list[timedelta]:
    found = await make.rows(
        conn,
        "SELECT run_at - clock_timestamp() FROM mailqueue.email_queue WHERE id = ANY (%s)",
        [email.id for email in taken],
    )
    return [each[0] for each in found]


async def expiring(conn: Conn, after: timedelta) -> Any:
    """Return a mail whose caller named the time at which it expires."""
    return await make.scalar(
        conn,
        "INSERT INTO mailqueue.email_queue (recipient_email, subject, text_body, expires_at)"
        " VALUES ('ann@example.com', 's', 't', now() + %s) RETURNING id",
        after,
    )


async def pass_time(conn: Conn, wait: timedelta) -> None:
    """Move the queued mail back in time, so that it is due, and has less time left."""
    await conn.execute(
        "UPDATE mailqueue.email_queue SET run_at = run_at - %(wait)s,"
        " expires_at = expires_at - %(wait)s",
        {"wait": wait},
    )
    await due_now(conn)


def are_near(waits: list[timedelta], *expected: timedelta) -> bool:
    """Return whether jitter changed each wait by a fifth at most."""
    slack = timedelta(seconds=10)
    return len(waits) == len(expected) and all(
        want * 0.8 - slack <= wait <= want * 1.2 for wait, want in zip(waits, expected, strict=True)
    )


def minutes(*counts: int) -> list[timedelta]:
    return [timedelta(minutes=count) for count in counts]


@pytest.fixture
async def one_mail(conn: Conn) -> Any:
    await make.sender_account(conn)
    return await make.queued_email(conn)


async def test_without_a_schedule_waits_are_1_5_15_60_minutes_and_then_hourly(
    conn: Conn, one_mail: Any
) -> None:
    assert are_near(await journey(conn, most=6), *minutes(1, 5, 15, 60, 60, 60))


async def test_a_project_has_a_schedule_of_its_own(conn: Conn, one_mail: Any) -> None:
    await schedule(conn, "2 min", "30 min")

    assert are_near(await journey(conn, most=4), *minutes(2, 30, 30, 30))


async def test_a_category_has_one_before_that_of_the_project(conn: Conn) -> None:
    await make.sender_account(conn)
    await schedule(conn, "2 min")
    await schedule(conn, "40 min", category="marketing")
    worker = await make.worker(conn)

    waits = {}
    for category in ("marketing", "transactional"):
        await make.queued_email(conn, category=category)
        taken = await claim(conn, worker)
        await settle(conn, taken, Ending.RETRY, **DEFERRED)
        waits[category] = await waits_of(conn, taken)

    assert are_near(waits["marketing"], *minutes(40))
    assert are_near(waits["transactional"], *minutes(2))


async def test_a_schedule_may_end(conn: Conn, one_mail: Any) -> None:
    await schedule(conn, "1 min", max_attempts=3)

    waits = await journey(conn)

    assert len(waits) == 2
    assert await make.rows(
        conn, "SELECT status, attempts, reason FROM mailqueue.email_history"
    ) == [("failed", 3, "busy")]


async def test_a_mails_own_attempts_hold_too(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn, max_attempts=2)
    await schedule(conn, "1 min", max_attempts=9)

    assert len(await journey(conn)) == 1
    assert await make.status_of(conn, email) == "failed"


async def test_mail_with_less_time_left_than_its_shortest_wait_expires_and_why_says_so(
    conn: Conn,
) -> None:
    await make.sender_account(conn)
    email = await expiring(conn, timedelta(minutes=10))
    await schedule(conn, "1 h")

    assert await journey(conn) == []
    assert await make.status_of(conn, email) == "expired"
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", email)
    assert ": the next attempt would be after it expires: busy" in why


@pytest.mark.parametrize("ending", [Ending.RETRY, Ending.DEFER])
async def test_a_server_that_asks_to_wait_beyond_the_end_ends_it_and_why_says_so(
    conn: Conn, one_mail: Any, ending: Ending
) -> None:
    taken = await claim(conn, await make.worker(conn))

    await settle(conn, taken, ending, reason="busy", wait=timedelta(days=5))

    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", one_mail)
    assert ": the next attempt would be after it expires: busy" in why


async def test_a_server_that_asks_for_longer_gets_it(conn: Conn, one_mail: Any) -> None:
    waits = await journey(conn, most=1, says={**DEFERRED, "wait": timedelta(hours=2)})

    assert are_near(waits, timedelta(hours=2))
    assert waits[0] <= timedelta(hours=2)


async def test_a_full_mailbox_is_tried_again_after_a_day_three_times(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await expiring(conn, timedelta(days=9))

    waits = await journey(conn, says=FULL)

    assert are_near(waits, DAY, DAY, DAY)
    assert await make.status_of(conn, email) == "failed"
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.send_logs") == 4


@pytest.mark.parametrize(("priority", "hours"), [(0, 1), (1, 4), (2, 24), (3, 72)])
async def test_a_full_mailbox_is_tried_again_three_times_before_default_mail_expires(
    conn: Conn, priority: int, hours: int
) -> None:
    """The mail fails after its fourth refusal; it does not expire, and lives no longer."""
    project = await make.project(conn, "new")
    await make.sender_account(conn, project_id=project)
    email = await make.queued_email(conn, project="new", priority=priority)
    assert await row(conn, email, "expires_at - run_at") == (timedelta(hours=hours),)
    worker = await make.worker(conn)

    for tries_left in (3, 2, 1):
        end, left = await row(conn, email, "expires_at, expires_at - clock_timestamp()")
        taken = await claim(conn, worker)
        await settle(conn, taken, Ending.RETRY, **FULL)
        waits = await waits_of(conn, taken)
        assert are_near(waits, min(left / tries_left, DAY))
        assert waits[0] < left
        assert (await row(conn, email, "expires_at"))[0] == end
        await pass_time(conn, waits[0])
    await settle(conn, await claim(conn, worker), Ending.RETRY, **FULL)

    assert await make.rows(
        conn, "SELECT status, attempts, reason FROM mailqueue.email_history"
    ) == [("failed", 4, "mailbox full")]


@pytest.mark.parametrize("says", [DEFERRED, FULL])
async def test_the_last_wait_ends_before_the_mail_expires(conn: Conn, says: dict[str, Any]) -> None:
    """A time that the caller gave is kept."""
    await make.sender_account(conn)
    email = await expiring(conn, timedelta(minutes=20))
    await schedule(conn, "1 min", "1 h", soft_retries=1)
    await conn.execute("UPDATE mailqueue.email_queue SET attempts = 1 WHERE id = %s", (email,))
    end = (await row(conn, email, "expires_at"))[0]

    waits = await journey(conn, most=1, says=says)

    assert are_near(waits, timedelta(minutes=20))
    assert waits[0] < timedelta(minutes=19, seconds=30)
    assert (await row(conn, email, "expires_at"))[0] == end


async def test_mail_without_an_end_waits_as_its_schedule_says(conn: Conn, one_mail: Any) -> None:
    await conn.execute("UPDATE mailqueue.email_queue SET expires_at = 'infinity'")

    assert are_near(await journey(conn, says=FULL), DAY, DAY, DAY)


async def test_soft_bounces_are_an_option_of_the_ladder(conn: Conn, one_mail: Any) -> None:
    await schedule(conn, "3 min", soft_wait=timedelta(hours=6), soft_retries=1)

    assert are_near(await journey(conn, says=FULL), timedelta(hours=6))


async def test_a_schedule_without_a_soft_wait_takes_them_like_any_failure(
    conn: Conn, one_mail: Any
) -> None:
    await schedule(conn, "3 min")

    assert are_near(await journey(conn, most=5, says=FULL), *minutes(3, 3, 3, 3, 3))


async def test_a_soft_bounce_suppresses_no_address(conn: Conn, one_mail: Any) -> None:
    """Suppress."""
    await journey(conn, most=2, says=FULL)

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppressions") == 0


async def test_a_storm_of_refusals_does_not_return_as_one(conn: Conn) -> None:
    """No tenth of the period has more than a quarter of the mails."""
    project = await make.project(conn)
    await make.sender_account(conn, project_id=project, batch_size=1000)
    await fill(conn, 1000, project=project)
    taken = await claim(conn, await make.worker(conn), limit=1000)
    assert len(taken) == 1000

    await settle(conn, taken, Ending.RETRY, **DEFERRED)

    slots = await make.rows(
        conn,
        "WITH s AS (SELECT min(run_at) AS first, max(run_at) AS last FROM mailqueue.email_queue)"
        " SELECT count(*) FROM mailqueue.email_queue AS q, s"
        " GROUP BY floor(10 * extract(epoch FROM q.run_at - s.first)"
        "                / extract(epoch FROM s.last - s.first))",
    )
    assert max(slot[0] for slot in slots) < 250


async def test_deferring_knows_no_ladder(conn: Conn, one_mail: Any) -> None:
    """A failure of the account costs no attempt and no step of the schedule."""
    await schedule(conn, "1 h", max_attempts=1)
    worker = await make.worker(conn)

    await settle(conn, await claim(conn, worker), Ending.DEFER, wait=timedelta(seconds=1))

    attempts, wait = await row(conn, one_mail, "attempts, run_at - clock_timestamp()")
    assert (attempts, wait < timedelta(seconds=1)) == (0, True)


async def test_every_change_of_a_schedule_is_recorded(conn: Conn) -> None:
    await schedule(conn, "1 min", category="marketing")
    await conn.execute("DELETE FROM mailqueue.retry_ladders")

    assert await make.rows(
        conn,
        "SELECT subject, detail->'steps' FROM mailqueue.audit_events"
        " WHERE action = 'ladder.changed' ORDER BY id",
    ) == [("retries of marketing", ["00:01:00"]), ("retries of marketing", None)]


@pytest.mark.parametrize("steps", [(), ("0 s",), ("1 min", "31 d"), ("-1 min",)])
async def test_steps_that_make_no_sense_are_refused(conn: Conn, steps: tuple[str, ...]) -> None:
    with pytest.raises(CheckViolation):
        await schedule(conn, *steps)
