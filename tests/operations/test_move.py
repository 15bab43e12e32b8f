"""Moving one mail to another sender account, and resolving one mail in doubt."""

from uuid import UUID, uuid4

import pytest

from mailqueue.core.errors import InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.operations import acting
from mailqueue.operations.acting import NotAllowed
from tests import make
from tests.mail.claim.steps import claim, row, settle
from tests.operations.test_resolve import in_doubt

pytestmark = pytest.mark.anyio


async def move(conn: Conn, email: UUID, sender: str | None) -> str:
    project = await make.project_named(conn)
    done = await acting.move(
        conn, email, project_id=project, sender=sender, reason="relay is down", by="ann"
    )
    return done.result


async def test_a_moved_email_waits_for_the_other_account_and_wakes_it(conn: Conn) -> None:
    first = await make.sender_account(conn, name="first")
    second = await make.sender_account(conn, name="second")
    worker = await make.worker(conn)
    await claim(conn, worker)  # every lane is known to be empty
    emails = [await make.queued_email(conn, sender="first", priority=1) for _ in range(2)]

    assert await move(conn, emails[0], "second") == "moved"

    taken = {each.id: each.assigned_to for each in await claim(conn, worker, limit=2)}
    assert taken == {emails[0]: second, emails[1]: first}
    detail = await make.scalar(
        conn, "SELECT detail FROM mailqueue.audit_events WHERE action = 'emails.moved'"
    )
    assert detail == {
        "ids": [str(emails[0])],
        "emails": 1,
        "sender": "second",
        "reason": "relay is down",
    }


async def test_a_held_email_stays_held_and_any_account_may_be_named(conn: Conn) -> None:
    await make.sender_account(conn, name="first")
    email = await make.queued_email(conn, sender="first")
    project = await make.project_named(conn)
    await make.rows(conn, "SELECT mailqueue.hold_emails(%s, %s, 'x')", project, [email])

    assert await move(conn, email, None) == "moved"

    assert await row(conn, email, "status") == ("held",)
    route = await make.scalar(
        conn,
        "SELECT l.route FROM mailqueue.email_queue AS q JOIN mailqueue.lanes AS l"
        " ON l.id = q.lane_id WHERE q.id = %s",
        email,
    )
    assert route == ""


async def test_what_cannot_be_moved_says_why(conn: Conn) -> None:
    await make.sender_account(conn, name="first")
    email = await make.queued_email(conn)
    others = await make.project(conn, "shop")
    foreign = await make.queued_email(conn, project_id=others)
    await make.highest_class_first(conn)
    urgent = await make.queued_email(conn, priority=0)
    [finished] = await claim(conn, await make.worker(conn), limit=1)
    assert finished.id == urgent
    with pytest.raises(NotAllowed, match="assigned"):
        await move(conn, urgent, "first")
    await settle(conn, [finished])

    for sender in ("no-such-account", "", "(test)"):
        with pytest.raises(InvalidField, match="no sender account"):
            async with conn.transaction():
                await move(conn, email, sender)
    for unknown in (foreign, uuid4()):
        with pytest.raises(NotFound):
            await move(conn, unknown, "first")
    with pytest.raises(NotAllowed, match="sent"):
        await move(conn, urgent, "first")


@pytest.mark.parametrize(("action", "status"), [("was_sent", "sent"), ("was_not_sent", "pending")])
async def test_an_email_in_doubt_is_resolved_either_way(
    conn: Conn, action: str, status: str
) -> None:
    _, email = await in_doubt(conn)
    project = await make.project_named(conn)

    await acting.act(
        conn, email.id, project_id=project, action=action, reason="seen by ann", by="ann"
    )

    found = await make.rows(conn, "SELECT status FROM mailqueue.emails WHERE id = %s", email.id)
    assert found == [(status,)]
    [(name, detail)] = await make.rows(
        conn, "SELECT action, detail FROM mailqueue.audit_events WHERE action LIKE 'emails.%%'"
    )
    assert name == "emails.resolved"
    assert detail["was_sent"] is (action == "was_sent")
    assert detail["reason"] == "seen by ann"


async def test_only_an_email_in_doubt_is_resolved(conn: Conn) -> None:
    email = await make.queued_email(conn)
    project = await make.project_named(conn)

    with pytest.raises(NotAllowed, match="may have been sent"):
        await acting.act(conn, email, project_id=project, action="was_sent", reason=None, by="ann")
