"""Lanes wait while their sender accounts cannot send, and continue at once when they can."""

from typing import Any

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.send.store import claims as claims_store
from tests import make
from tests.mail.claim.steps import claim, lane, sent

pytestmark = pytest.mark.anyio


async def rest(conn: Conn, account: int, reason: str = "connection refused") -> float | None:
    """Pause an account after a failure; return the wait in seconds."""
    wait = "SELECT extract(epoch FROM mailqueue.rest_sender(%s, %s))::float8"
    return await make.scalar(conn, wait, account, reason)  # type: ignore[no-any-return]


async def rest_is_over(conn: Conn) -> None:
    for table in ("limits", "lanes"):
        await conn.execute(
            f"UPDATE mailqueue.{table} SET blocked_until = clock_timestamp()"
            " WHERE blocked_reason = 'unreachable'"
        )


async def audit(conn: Conn) -> list[tuple[Any, ...]]:
    return await make.rows(conn, "SELECT action, subject FROM mailqueue.audit_events ORDER BY id")


async def test_an_unreachable_account_rests_longer_each_time(conn: Conn) -> None:
    account = await make.sender_account(conn)
    waits = []
    for _ in range(11):
        waits.append(await rest(conn, account))
        await rest_is_over(conn)

    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


async def test_many_workers_seeing_one_failure_make_one_rest(conn: Conn) -> None:
    account = await make.sender_account(conn)

    assert await rest(conn, account) == 1
    assert await rest(conn, account) is None
    assert len(await audit(conn)) == 1


async def test_the_lane_of_an_unreachable_account_says_so(conn: Conn) -> None:
    """Why."""
    account = await make.sender_account(conn, name="main")
    email = await make.queued_email(conn)
    await rest(conn, account)

    assert await claim(conn, await make.worker(conn)) == []

    assert await lane(conn) == (False, "unreachable")
    why = await make.scalar(conn, "SELECT mailqueue.why(%s)", email)
    assert "main" in why
    assert "cannot be reached" in why
    assert why.endswith(": connection refused; to try it: mailqueue sender test main")
    assert await audit(conn) == [("sender.unreachable", "sender main")]


async def test_after_the_rest_the_lane_is_tried_again(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await make.queued_email(conn)
    worker = await make.worker(conn)
    await rest(conn, account)
    assert await claim(conn, worker) == []

    await rest_is_over(conn)

    assert len(await claim(conn, worker)) == 1


async def test_an_answer_ends_the_growing(conn: Conn) -> None:
    account = await make.sender_account(conn)
    for _ in range(3):
        await rest(conn, account)
        await rest_is_over(conn)

    await claims_store.sender_answered(conn, account)

    assert await rest(conn, account) == 1


async def test_an_account_whose_pause_is_over_can_rest(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await conn.execute(
        "UPDATE mailqueue.sender_accounts"
        " SET status = 'paused', status_until = clock_timestamp() WHERE id = %s",
        (account,),
    )
    await make.queued_email(conn)

    await rest(conn, account)

    assert await claim(conn, await make.worker(conn)) == []
    assert await lane(conn) == (False, "unreachable")


@pytest.mark.parametrize("status", ["paused", "suspended"])
async def test_a_rest_does_not_end_what_a_person_decided(conn: Conn, status: str) -> None:
    account = await make.sender_account(conn, status=status)
    await rest(conn, account)
    await rest_is_over(conn)
    await claims_store.sender_answered(conn, account)
    await make.queued_email(conn)

    assert await claim(conn, await make.worker(conn)) == []
    assert await lane(conn) == (False, status)


async def test_mail_goes_by_the_next_account_while_the_first_rests(conn: Conn) -> None:
    first = await make.sender_account(conn, priority=1)
    second = await make.sender_account(conn, priority=2)
    await make.queued_emails(conn, 2)
    worker = await make.worker(conn)
    await rest(conn, first)

    (email,) = await claim(conn, worker, limit=1)
    assert email.assigned_to == second

    await rest_is_over(conn)
    (email,) = await claim(conn, worker, limit=1)
    assert email.assigned_to == first


async def test_a_refused_account_is_suspended_with_a_note(conn: Conn) -> None:
    account = await make.sender_account(conn, name="main")
    email = await make.queued_email(conn)

    await claims_store.suspend_sender(conn, account, "535 wrong password")
    await claims_store.suspend_sender(conn, account, "535 wrong password")

    assert await claim(conn, await make.worker(conn)) == []
    assert await lane(conn) == (False, "suspended")
    assert await audit(conn) == [("sender.suspended", "sender main")]
    assert "suspended" in await make.scalar(conn, "SELECT mailqueue.why(%s)", email)


@pytest.mark.parametrize(
    ("before", "change"),
    [
        ({"daily_limit": 0}, "daily_limit = 10"),
        ({"daily_limit": 0}, "daily_limit = NULL"),
        ({"status": "paused"}, "status = 'active'"),
        ({"status": "suspended"}, "status = 'active'"),
    ],
)
async def test_an_account_that_may_send_again_wakes_its_lanes_at_once(
    conn: Conn, before: dict[str, Any], change: str
) -> None:
    account = await make.sender_account(conn, **before)
    await make.queued_email(conn)
    worker = await make.worker(conn)
    assert await claim(conn, worker) == []

    await conn.execute(f"UPDATE mailqueue.sender_accounts SET {change} WHERE id = %s", (account,))

    assert len(await claim(conn, worker)) == 1


async def test_the_first_account_wakes_what_waited_for_one(conn: Conn) -> None:
    project = await make.project(conn)
    email = await make.queued_email(conn, project_id=project, project=None)
    worker = await make.worker(conn)
    assert await claim(conn, worker) == []
    assert "no sender account" in await make.scalar(conn, "SELECT mailqueue.why(%s)", email)

    await make.sender_account(conn, project_id=project)

    assert [one.id for one in await claim(conn, worker)] == [email]


async def test_a_raised_project_limit_wakes_its_lanes_at_once(conn: Conn) -> None:
    await conn.execute("UPDATE mailqueue.projects SET daily_limit = 1 WHERE name = 'default'")
    await make.sender_account(conn)
    await make.queued_emails(conn, 3)
    worker = await make.worker(conn)
    await sent(conn, await claim(conn, worker))
    assert await claim(conn, worker) == []

    await conn.execute("UPDATE mailqueue.projects SET daily_limit = 3 WHERE name = 'default'")

    assert len(await claim(conn, worker)) == 2


async def test_a_suspended_project_sends_nothing_until_it_may(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_email(conn)
    worker = await make.worker(conn)
    status = "UPDATE mailqueue.projects SET status = %s WHERE name = 'default'"

    await conn.execute(status, ("suspended",))
    assert await claim(conn, worker) == []
    assert await lane(conn) == (False, "suspended")

    await conn.execute(status, ("active",))
    assert len(await claim(conn, worker)) == 1
