"""Limit: a project sends mail of low priority only in its window."""

from datetime import timedelta

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import MarkVerdict
from mailqueue.mail.send.store import claims as claims_store
from tests import make
from tests.mail.claim.steps import LEASE, claim, end_waits, mark, sent
from tests.mail.limits.low_priority.windows import LOW, around, change, close, now

pytestmark = pytest.mark.anyio

CLOSED = "SELECT blocked_reason, blocked_until FROM mailqueue.lanes WHERE blocked_reason = %s"


async def test_low_priority_waits_and_is_sent_in_batches_once_the_window_opens(
    conn: Conn,
) -> None:
    await make.sender_account(conn, batch_size=4)
    worker = await make.worker(conn)
    opens = await close(conn)
    await make.queued_emails(conn, 6, priority=LOW)

    assert await claim(conn, worker) == []
    assert await make.rows(conn, CLOSED, "outside_window") == [("outside_window", opens)]

    await change(conn, around(await now(conn), opens=-5, closes=60))
    first = await claim(conn, worker)
    await sent(conn, first)
    await end_waits(conn, "blocked_reason = 'recheck'")
    second = await claim(conn, worker)

    assert (len(first), len(second)) == (4, 2)


async def test_a_worker_wakes_when_the_window_opens(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    opens = await close(conn)
    await make.queued_email(conn, priority=LOW)
    await claim(conn, worker)

    wait = (await make.rows(conn, "SELECT next_wake FROM mailqueue.gather_lanes()"))[0][0]
    assert abs(await now(conn) + wait - opens) < timedelta(seconds=5)

    # The time of the opening, as far as lanes and limits know it.
    await conn.execute(
        "UPDATE mailqueue.limits"
        " SET low_from = (now() AT TIME ZONE 'UTC')::time - '1 min'::interval"
        " WHERE low_from IS NOT NULL"
    )
    await end_waits(conn, "blocked_reason = 'outside_window'")
    assert len(await claim(conn, worker)) == 1


async def test_new_mail_does_not_open_the_window(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await close(conn)
    await make.queued_email(conn, priority=LOW)
    await claim(conn, worker)

    await make.queued_email(conn, priority=LOW)
    assert await claim(conn, worker) == []
    waits = "SELECT count(*) FROM mailqueue.lanes WHERE priority = 3 AND blocked_until IS NULL"
    assert await make.scalar(conn, waits) == 0


async def test_the_window_closes_over_a_lane_that_was_sending(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_emails(conn, 2, priority=LOW)
    assert len(await claim(conn, worker, limit=1)) == 1

    await close(conn)

    assert await claim(conn, worker, limit=1) == []


async def test_other_priorities_and_other_projects_go_on(conn: Conn) -> None:
    await make.sender_account(conn)
    shop = await make.project(conn, "shop")
    await make.sender_account(conn, project_id=shop)
    worker = await make.worker(conn)
    await close(conn)
    waiting = await make.queued_email(conn, priority=LOW)
    going = {await make.queued_email(conn, priority=priority) for priority in (0, 1, 2)}
    going.add(await make.queued_email(conn, priority=LOW, project="shop"))

    claimed = {email.id for email in await claim(conn, worker)}

    assert claimed == going
    assert waiting not in claimed


async def test_mail_to_a_domain_with_a_rate_waits_too(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await conn.execute("INSERT INTO mailqueue.domain_rates VALUES ('example.com', 100)")
    await make.queued_email(conn, priority=LOW)
    assert await claim(conn, worker) == []  # it is moved to the lane of its domain
    await close(conn)

    assert await claim(conn, worker) == []
    assert len(await make.rows(conn, CLOSED, "outside_window")) == 1


async def test_a_window_without_a_zone_follows_that_of_the_project(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await make.queued_email(conn, priority=LOW)
    here = await now(conn)
    await change(conn, around(here, opens=-5, closes=60).removesuffix(" UTC"))
    away = "UPDATE mailqueue.projects SET time_zone = %s"

    await conn.execute(away, ("Asia/Tokyo",))
    assert await claim(conn, worker) == []
    await conn.execute(away, ("Japan",))  # a name that settings refuse and PostgreSQL knows
    assert await claim(conn, worker) == []
    await conn.execute(away, ("UTC",))
    assert len(await claim(conn, worker)) == 1


async def test_the_end_of_a_window_setting_sends_at_once(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await close(conn)
    await make.queued_email(conn, priority=LOW)
    assert await claim(conn, worker) == []

    await change(conn, None)

    assert len(await claim(conn, worker)) == 1
    limits = "SELECT count(*) FROM mailqueue.limits WHERE low_from IS NOT NULL"
    assert await make.scalar(conn, limits) == 0


async def test_a_suspect_waits_as_well(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    email = await make.queued_email(conn, priority=LOW)
    await conn.execute("UPDATE mailqueue.email_queue SET crashes = 1, run_at = now()")
    await close(conn)

    assert await claims_store.claim_suspect(conn, worker, lease=LEASE) == []
    await conn.execute("UPDATE mailqueue.email_queue SET run_at = now()")
    await change(conn, None)

    alone = await claims_store.claim_suspect(conn, worker, lease=LEASE)
    assert [each.id for each in alone] == [email]


async def test_mail_that_expires_outside_the_window_is_not_sent_in_it(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await close(conn)
    await make.queued_email(conn, priority=LOW)
    assert await claim(conn, worker) == []
    await conn.execute(
        "UPDATE mailqueue.email_queue SET run_at = now() - interval '2 h',"
        " expires_at = now() - interval '1 s'"
    )

    await change(conn, None)
    claimed = await claim(conn, worker)

    marks = await mark(conn, worker, claimed)
    assert [found.verdict for found in marks.values()] == [MarkVerdict.EXPIRED]
