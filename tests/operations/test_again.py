"""Changing the priority of queued mail, and resending sent mail."""

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from mailqueue.operations import acting
from tests import make
from tests.operations.steps import count, finished, matching
from tests.queue.steps import claim, difference, row, sent, settle

pytestmark = pytest.mark.anyio


async def test_another_priority_is_another_lane_and_wakes_it(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    await claim(conn, worker)  # every lane is known to be empty
    bulk = await make.queued_email(conn, priority=3)
    await make.queued_email(conn, priority=2)

    assert await matching(conn, "reprioritise", "critical", lane="low") == 1
    assert await count(conn, "hold", lane="low") == 0

    await make.highest_class_first(conn)
    (first,) = await claim(conn, worker, limit=1)
    assert first.id == bulk
    [(lane, priority)] = await make.rows(
        conn,
        "SELECT l.priority, q.priority FROM mailqueue.email_queue AS q"
        " JOIN mailqueue.lanes AS l ON l.id = q.lane_id WHERE q.id = %s",
        bulk,
    )
    assert (lane, priority) == (0, 0)


async def test_another_priority_keeps_the_route(conn: Conn) -> None:
    await make.sender_account(conn, name="first")
    second = await make.sender_account(conn, name="second")
    await make.queued_email(conn, sender="second")

    await matching(conn, "reprioritise", "high")

    (taken,) = await claim(conn, await make.worker(conn))
    assert taken.assigned_to == second


async def test_mail_that_has_the_priority_already_is_not_counted(conn: Conn) -> None:
    await make.queued_email(conn, priority=1)

    assert await matching(conn, "reprioritise", "high", "x", True) == 0
    with pytest.raises(errors.InvalidParameterValue, match="priority: critical, high"):
        await matching(conn, "reprioritise", "urgent")


async def test_mail_a_worker_has_moves_when_it_comes_back(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    email = await make.queued_email(conn, priority=3)
    taken = await claim(conn, worker)

    assert await matching(conn, "reprioritise", "critical") == 1
    await settle(conn, taken, Ending.DEFER)

    assert await row(conn, email, "status, priority") == ("pending", 0)
    assert [each.id for each in await claim(conn, worker)] == [email]


async def test_resent_mail_is_a_new_mail_with_the_same_content(conn: Conn) -> None:
    await make.sender_account(conn)
    worker = await make.worker(conn)
    old = await finished(
        conn, campaign_id="spring", cc=["bob@example.com"], idempotency_key="k", tags=["a"]
    )

    assert await matching(conn, "resend", "asked for it", campaign_id="spring") == 1

    (again,) = await claim(conn, worker)
    assert again.id != old
    [(was, now)] = await make.rows(
        conn,
        "SELECT h.content_id, q.content_id FROM mailqueue.email_history AS h, mailqueue.email_queue"
        " AS q WHERE h.id = %s AND q.id = %s AND q.tags = h.tags AND q.campaign_id = 'spring'",
        old,
        again.id,
    )
    assert was == now
    assert again.recipients == 2
    assert await sent(conn, [again]) == []
    assert await make.status_of(conn, old) == "sent"
    assert await difference(conn) == 0
    told = await make.scalar(
        conn, "SELECT detail FROM mailqueue.email_events WHERE email_id = %s", again.id
    )
    assert told == f"resent from {old}: asked for it"


async def test_resending_asks_again_whether_the_recipient_may_be_written_to(conn: Conn) -> None:
    await make.sender_account(conn)
    await finished(conn)
    await conn.execute("INSERT INTO mailqueue.unsubscribe_list (email) VALUES ('ann@example.com')")

    assert await matching(conn, "resend") == 1

    found = await make.rows(conn, "SELECT status FROM mailqueue.emails ORDER BY created_at")
    assert sorted(each[0] for each in found) == ["sent", "suppressed"]


async def test_suppressed_mail_is_sent_as_a_new_mail_once_the_suppression_is_lifted(
    conn: Conn,
) -> None:
    await make.sender_account(conn)
    await conn.execute("INSERT INTO mailqueue.unsubscribe_list (email) VALUES ('ann@example.com')")
    project = await make.project_named(conn)
    old = await make.queued_email(conn, recipient_email="ann@example.com", subject="Your bill")
    assert await make.status_of(conn, old) == "suppressed"

    async def send_again() -> str | None:
        done = await acting.act(
            conn, old, project_id=project, action="resend", reason="it is her address", by="tests"
        )
        assert done.result == "resent"
        assert done.id != old
        return await make.status_of(conn, done.id)

    assert await send_again() == "suppressed"
    await conn.execute("DELETE FROM mailqueue.suppressions")
    assert await send_again() == "pending"
    subject = "SELECT DISTINCT subject FROM mailqueue.emails"
    assert await make.rows(conn, subject) == [("Your bill",)]
