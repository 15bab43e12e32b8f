"""Changing the priority of queued mail, and resending sent mail."""

import re
from uuid import UUID

import pytest
from psycopg import errors

from mailqueue.core.errors import Conflict
from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending
from mailqueue.operations import acting, emails
from mailqueue.operations.emails import EmailOperation
from tests import make
from tests.mail.claim.steps import claim, difference, row, sent, settle
from tests.operations.steps import count, finished, matching

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


async def test_mail_to_suppressed_recipients_is_not_sent_again_with_others(conn: Conn) -> None:
    """It stays as it is; of mail to several the others get it."""
    await make.sender_account(conn)
    await finished(conn)
    await finished(conn, cc=["bob@example.com"])
    await conn.execute("INSERT INTO mailqueue.unsubscribe_list (email) VALUES ('ann@example.com')")

    assert await matching(conn, "resend") == 1

    found = await make.rows(conn, "SELECT status FROM mailqueue.emails ORDER BY created_at")
    assert sorted(each[0] for each in found) == ["pending", "sent", "sent"]


async def again_by_hand(conn: Conn, email: UUID, deed: str) -> str:
    """Return what the command line says of one email."""
    operation = EmailOperation([email], "tests")
    if deed == "requeue":
        [result] = await emails.requeue(conn, operation)
    else:
        [result] = await emails.resend(conn, operation, reason="it is her address")
    return result.result


async def ended(conn: Conn, status: str) -> UUID:
    """Return a mail that ended so; its recipient is suppressed afterwards."""
    await make.sender_account(conn)
    if status != "suppressed":
        email = await finished(conn, Ending(status))
    await conn.execute("INSERT INTO mailqueue.unsubscribe_list (email) VALUES ('ann@example.com')")
    return await make.queued_email(conn) if status == "suppressed" else email


@pytest.mark.parametrize("status", ["sent", "failed", "expired", "suppressed"])
async def test_mail_to_a_suppressed_address_is_refused_with_the_reason_until_that_is_lifted(
    conn: Conn, status: str
) -> None:
    """Mail that was sent or suppressed becomes a new mail, other mail keeps its id."""
    email = await ended(conn, status)
    project = await make.project_named(conn)
    why = f"{status}, and its recipients are suppressed (unsubscribed)"

    with pytest.raises(Conflict, match=re.escape(f"email {email} is {why}: only mail that was")):
        await acting.act(conn, email, project_id=project, action="resend", reason="x", by="tests")
    for deed in ("requeue", "resend"):
        assert await again_by_hand(conn, email, deed) == f"unchanged: {why}"
    assert await make.rows(conn, "SELECT id, status FROM mailqueue.emails") == [(email, status)]

    await conn.execute("DELETE FROM mailqueue.suppressions")
    done = await acting.act(
        conn, email, project_id=project, action="resend", reason="x", by="tests"
    )
    assert (done.result, done.id == email) == (
        ("resent", False) if status in ("sent", "suppressed") else ("requeued", True)
    )
    assert await make.status_of(conn, done.id) == "pending"


async def test_the_command_line_sends_suppressed_mail_again_once_the_suppression_is_lifted(
    conn: Conn,
) -> None:
    email = await ended(conn, "suppressed")
    await conn.execute("DELETE FROM mailqueue.suppressions")

    assert await again_by_hand(conn, email, "requeue") == (
        "unchanged: suppressed; `mailqueue email resend` sends it as a new email"
    )
    result = await again_by_hand(conn, email, "resend")

    assert result.startswith("resent as ")
    assert await make.status_of(conn, UUID(result.removeprefix("resent as "))) == "pending"


async def test_only_the_recipients_that_are_left_decide_whether_mail_is_sent_again(
    conn: Conn,
) -> None:
    await make.sender_account(conn)
    email = await finished(conn, Ending.FAILED, cc=["bob@example.com"])
    await conn.execute(
        "UPDATE mailqueue.email_recipients SET status = 'sent' WHERE address = 'bob@example.com'"
    )
    await conn.execute("INSERT INTO mailqueue.unsubscribe_list (email) VALUES ('ann@example.com')")

    assert (await again_by_hand(conn, email, "requeue")).startswith("unchanged: failed, and")
