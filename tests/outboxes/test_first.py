"""What stops or ends the first mail of a key, and what becomes of the mail behind it."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus, MarkVerdict
from tests import make
from tests.mail.claim.steps import claim, end_waits, mark, settle
from tests.outboxes.ordered import drained, ordered, why

pytestmark = pytest.mark.anyio
ANN = "ann@example.com"
BOB = "bob@example.org"

# What stops the first mail, and what lets it go.
STOPS = {
    "project paused": (
        "SELECT mailqueue.pause_sending('project', 'default', 'default')",
        "SELECT mailqueue.resume_sending('project', 'default', 'default')",
    ),
    "project suspended": (
        "SELECT mailqueue.suspend_project('default', 'x')",
        "SELECT mailqueue.activate_project('default')",
    ),
    "account paused": (
        "UPDATE mailqueue.sender_accounts SET status = 'paused'",
        "UPDATE mailqueue.sender_accounts SET status = 'active'",
    ),
    "domain paused": (
        "SELECT mailqueue.pause_sending('domain', 'default', 'example.com')",
        "SELECT mailqueue.resume_sending('domain', 'default', 'example.com')",
    ),
}


@pytest.mark.parametrize("stop", STOPS)
async def test_mail_behind_a_stopped_first_one_waits_and_follows_it(conn: Conn, stop: str) -> None:
    await ordered(conn, "project")
    worker = await make.worker(conn)
    first = await make.queued_email(conn, recipient_email=ANN)
    second = await make.queued_email(conn, recipient_email=BOB)
    stopping, starting = STOPS[stop]
    await conn.execute(stopping.encode())
    # Mail of a paused domain moves to the lane of its pause when it is marked.
    for _ in range(3):
        claimed = await claim(conn, worker)
        assert second not in [email.id for email in claimed]
        await mark(conn, worker, claimed)
        await settle(conn, claimed, Ending.DEFER, reason="paused")
    assert f"behind email {first}, which is " in await why(conn, second)

    await conn.execute(starting.encode())
    await end_waits(conn, "blocked_until IS NOT NULL")

    assert await drained(conn, worker) == [first, second]


async def test_a_moved_first_mail_goes_first_by_its_new_account(conn: Conn) -> None:
    await ordered(conn, "project")
    worker = await make.worker(conn)
    project = await make.project_named(conn)
    account = await make.sender_account(conn, name="spare")
    mails = [await make.queued_email(conn) for _ in range(3)]
    for email in reversed(mails):  # those behind it first: none of them may overtake
        await make.rows(
            conn,
            "SELECT * FROM mailqueue.move_email(%s, %s, 'spare', NULL, 'me')",
            project,
            email,
        )

    for email in mails:
        claimed = await claim(conn, worker)
        assert [(each.id, each.assigned_to) for each in claimed] == [(email, account)]
        await settle(conn, claimed, log=LogStatus.SENT)


@pytest.mark.parametrize("place", [0, 1])
async def test_mail_of_an_erased_person_leaves_the_order(conn: Conn, place: int) -> None:
    await ordered(conn, "project", on_failure="block")
    worker = await make.worker(conn)
    mails = [await make.queued_email(conn, recipient_email=BOB) for _ in range(3)]
    await conn.execute(
        b"UPDATE mailqueue.email_queue SET recipient_email = %s WHERE id = %s", [ANN, mails[place]]
    )
    await claim(conn, worker)  # the first has its turn
    await make.rows(conn, "SELECT mailqueue.return_claims(%s)", [worker])

    await make.rows(
        conn,
        "SELECT * FROM mailqueue.erase_queued(%s, %s, '{}', 100)",
        await make.project_named(conn),
        [ANN],
    )

    assert await drained(conn, worker) == [email for email in mails if email != mails[place]]
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_order") == 0


# What ends a mail between its claim and the first byte, and how its worker settles it then.
ENDS = {
    "suppressed": (
        "INSERT INTO mailqueue.suppressions (project_id, address, reason)"
        " SELECT project_id, recipient_email, 'manual' FROM mailqueue.email_queue WHERE id = %s",
        MarkVerdict.SUPPRESSED,
        Ending.SUPPRESSED,
    ),
    "cancelled": (
        "SELECT mailqueue.cancel_emails(project_id, ARRAY[id]) FROM mailqueue.email_queue"
        " WHERE id = %s",
        MarkVerdict.CANCELLED,
        Ending.CANCELLED,
    ),
    "expired": (
        "UPDATE mailqueue.email_queue SET expires_at = now() WHERE id = %s",
        MarkVerdict.EXPIRED,
        Ending.EXPIRED,
    ),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("on_failure", ["continue", "block"])
async def test_a_first_mail_that_ends_once_it_is_claimed(
    conn: Conn, end: str, on_failure: str
) -> None:
    await ordered(conn, "project", on_failure=on_failure)
    worker = await make.worker(conn)
    first = await make.queued_email(conn, recipient_email=ANN)
    second = await make.queued_email(conn, recipient_email=BOB)
    claimed = await claim(conn, worker)
    statement, expected, ending = ENDS[end]
    await conn.execute(statement.encode(), [first])

    assert (await mark(conn, worker, claimed))[first].verdict is expected
    await settle(conn, claimed, ending, reason="x")

    stays = end == "expired" and on_failure == "block"
    assert await drained(conn, worker) == ([] if stays else [second])
