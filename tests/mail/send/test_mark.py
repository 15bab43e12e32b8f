"""The check right before a mail is handed over: what may be sent, what is stopped."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, Mark, MarkVerdict, RecipientOutcome
from tests import make
from tests.mail.claim.steps import claim, due_now, mark, row, settle

pytestmark = pytest.mark.anyio


async def only_mark(conn: Conn, worker: int) -> Mark:
    """Claim the one mail and mark it."""
    (email,) = await claim(conn, worker)
    return (await mark(conn, worker, [email]))[email.id]


async def unsubscribe(conn: Conn, address: str, category: str = "") -> None:
    await conn.execute(
        "INSERT INTO mailqueue.unsubscribe_list (email, category) VALUES (%s, %s)",
        (address, category),
    )


async def test_nothing_in_the_way_means_go(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn)

    assert await only_mark(conn, await make.worker(conn)) == Mark(email, MarkVerdict.GO)


async def test_a_cancel_while_assigned_is_honoured(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)
    (taken,) = await claim(conn, worker)
    project = await make.project_named(conn)

    done = await make.rows(conn, "SELECT * FROM mailqueue.cancel_emails(%s, %s)", project, [email])

    assert done == [(email, "asked")]
    assert (await mark(conn, worker, [taken]))[email].verdict is MarkVerdict.CANCELLED


async def test_a_cancel_survives_the_loss_of_the_worker(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)
    (taken,) = await claim(conn, worker)
    project = await make.project_named(conn)
    await make.rows(conn, "SELECT * FROM mailqueue.cancel_emails(%s, %s)", project, [email])

    await settle(conn, [taken], Ending.DEFER)

    assert await make.status_of(conn, email) == "cancelled"


async def test_mail_that_expired_meanwhile_is_not_sent(conn: Conn) -> None:
    await make.sender_account(conn)
    email = await make.queued_email(conn)
    worker = await make.worker(conn)
    (taken,) = await claim(conn, worker)
    await conn.execute("UPDATE mailqueue.email_queue SET expires_at = now() - interval '1 s'")

    assert (await mark(conn, worker, [taken]))[email].verdict is MarkVerdict.EXPIRED


@pytest.mark.parametrize(("category", "stops"), [("", True), ("marketing", True), ("news", False)])
async def test_an_unsubscribe_stops_mail_already_queued(
    conn: Conn, category: str, stops: bool
) -> None:
    """Suppress."""
    await make.sender_account(conn)
    await make.queued_email(conn, recipient_email="Ann@Example.com", category="marketing")
    worker = await make.worker(conn)
    await unsubscribe(conn, "ann@example.com", category)

    found = await only_mark(conn, worker)

    assert (found.verdict is MarkVerdict.SUPPRESSED) is stops
    assert found.reason == ("unsubscribed" if stops else None)


async def test_one_projects_suppression_is_not_anothers(conn: Conn) -> None:
    """Tenant."""
    other = await make.project(conn)
    await make.sender_account(conn, project_id=other)
    await make.queued_email(conn, project_id=other, project=None)
    await unsubscribe(conn, "ann@example.com")

    assert (await only_mark(conn, await make.worker(conn))).verdict is MarkVerdict.GO


async def test_only_the_suppressed_recipient_of_a_message_is_stopped(conn: Conn) -> None:
    """Suppress."""
    await make.sender_account(conn)
    await make.queued_email(conn, cc=["cy@example.com"])
    await unsubscribe(conn, "cy@example.com")

    found = await only_mark(conn, await make.worker(conn))

    assert (found.verdict, found.stopped) == (MarkVerdict.GO, ("cy@example.com",))


async def test_a_message_all_of_whose_recipients_unsubscribed_is_stopped(conn: Conn) -> None:
    """Suppress."""
    await make.sender_account(conn)
    await make.queued_email(conn, cc=["cy@example.com"])
    for address in ("ann@example.com", "cy@example.com"):
        await unsubscribe(conn, address)

    found = await only_mark(conn, await make.worker(conn))

    assert (found.verdict, found.reason) == (MarkVerdict.SUPPRESSED, "unsubscribed")


async def test_the_copy_goes_out_though_the_first_recipient_was_suppressed_at_accept(
    conn: Conn,
) -> None:
    """Suppress: one person's choice does not stop another's mail."""
    await make.sender_account(conn)
    await unsubscribe(conn, "ann@example.com")
    email = await make.queued_email(conn, cc=["cy@example.com"])
    assert await make.status_of(conn, email) == "pending"

    found = await only_mark(conn, await make.worker(conn))

    assert (found.verdict, found.stopped) == (MarkVerdict.GO, ())


async def test_the_last_recipient_left_is_the_one_looked_at(conn: Conn) -> None:
    """Suppress: the first recipient was sent to; the copy is retried after its recipient
    unsubscribed.
    """
    await make.sender_account(conn)
    await make.queued_email(conn, cc=["cy@example.com"])
    worker = await make.worker(conn)
    taken = await claim(conn, worker)
    accepted = RecipientOutcome("ann@example.com", "sent", None, None, hard=False)
    await settle(conn, taken, Ending.RETRY, spent=1, left=1, recipients=(accepted,))
    await due_now(conn)
    await unsubscribe(conn, "ann@example.com")

    assert (await only_mark(conn, worker)).verdict is MarkVerdict.GO

    await unsubscribe(conn, "cy@example.com")
    (email,) = await make.rows(conn, "SELECT id FROM mailqueue.email_queue")
    assert (await row(conn, email[0], "recipients")) == (1,)
    marked = await conn.execute(
        "SELECT verdict FROM mailqueue.email_queue AS q,"
        " mailqueue.mark_emails(%s, ARRAY[q.id], ARRAY[q.claim_no], '{}', '{}')",
        (worker,),
    )
    assert await marked.fetchall() == [("suppressed",)]


async def test_marking_twice_as_much_as_usual_writes_nothing_beside_the_row(conn: Conn) -> None:
    """Stored out of line, each mark would cost several times as much."""
    await make.sender_account(conn)
    await make.queued_emails(conn, 130)
    worker = await make.worker(conn)

    marks = await mark(conn, worker, await claim(conn, worker, limit=130))

    assert len(marks) == 130
    beside = "SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = %s::regclass"
    assert await make.scalar(conn, beside, "mailqueue.send_intents") == 0
