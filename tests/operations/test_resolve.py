"""Mail with unknown outcome: an operator or evidence decides; it is resent at most once."""

from uuid import UUID, uuid4

import pytest
from psycopg import errors

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import ClaimedEmail, Ending, LogStatus
from tests import make
from tests.mail.claim.steps import claim, counted, difference, lose, mark, row, sent, settle

pytestmark = pytest.mark.anyio


async def resolve(conn: Conn, email: UUID, *, was_sent: bool, note: str | None = None) -> list[str]:
    project = await make.project_named(conn)
    found = await make.rows(
        conn,
        "SELECT result FROM mailqueue.resolve_emails(%s, %s, %s, %s, 'ann')",
        project,
        [email],
        was_sent,
        note,
    )
    return [each[0] for each in found]


async def evidence(conn: Conn, reference: object, words: str = "a delivery report") -> str:
    found: str = await make.scalar(
        conn, "SELECT mailqueue.resolve_by_evidence(%s, %s)", str(reference), words
    )
    return found


async def in_doubt(conn: Conn, **columns: object) -> tuple[int, ClaimedEmail]:
    """Create a mail that was handed over without a reply."""
    await make.sender_account(conn)
    await make.queued_email(conn, **{"delivery": "hold", **columns})
    worker = await make.worker(conn)
    (email,) = await claim(conn, worker)
    await mark(conn, worker, [email])
    await settle(
        conn,
        [email],
        Ending.UNKNOWN,
        reason="no answer",
        spent=email.recipients,
        log=LogStatus.UNKNOWN,
        message_id=f"<{email.id.hex}@example.com>",
    )
    return worker, email


async def resolved_events(conn: Conn, email: UUID) -> list[str]:
    found = await make.rows(
        conn,
        "SELECT detail FROM mailqueue.email_events WHERE email_id = %s AND type = 'resolved'",
        email,
    )
    return [each[0] for each in found]


async def test_resolved_as_sent_it_is_finished_with_who_said_so(conn: Conn) -> None:
    _, email = await in_doubt(conn, cc=["bob@example.com"])
    assert await make.scalar(conn, "SELECT reason FROM mailqueue.held") == (
        "outcome_unknown: no answer"
    )

    assert await resolve(conn, email.id, was_sent=True, note="ann has it") == ["sent"]

    [(status, reason, message_id)] = await make.rows(
        conn, "SELECT status, reason, message_id FROM mailqueue.email_history"
    )
    assert (status, message_id) == ("sent", f"<{email.id.hex}@example.com>")
    assert reason.startswith("resolved by ")
    assert reason.endswith(" (ann): ann has it")
    assert await resolved_events(conn, email.id) == [reason]
    settled = await make.rows(conn, "SELECT DISTINCT status FROM mailqueue.email_recipients")
    assert settled == [("sent",)]
    assert await difference(conn) == 0
    assert reason in await make.scalar(conn, "SELECT mailqueue.why(%s)", email.id)


async def test_resolved_as_not_sent_it_goes_out_once_more(conn: Conn) -> None:
    worker, email = await in_doubt(conn)

    assert await resolve(conn, email.id, was_sent=False) == ["queued"]

    (again,) = await claim(conn, worker)
    assert (again.id, again.unknowns) == (email.id, 1)
    assert await sent(conn, [again]) == []
    assert len(await resolved_events(conn, email.id)) == 1
    assert (await counted(conn)).reserved == 0


@pytest.mark.parametrize("delivery", ["hold", "resend"])
async def test_a_person_may_repeat_it_but_nothing_else_does_after_the_one_resend(
    conn: Conn, delivery: str
) -> None:
    """With any policy: after the first doubt, only an operator decides."""
    worker, email = await in_doubt(conn, delivery=delivery)
    if delivery == "resend":
        (email,) = await claim(conn, worker)
        await settle(conn, [email], Ending.UNKNOWN, reason="again")

    for _ in range(2):
        assert await resolve(conn, email.id, was_sent=False) == ["queued"]
        (email,) = await claim(conn, worker)
        await settle(conn, [email], Ending.UNKNOWN, reason="again")
        assert await make.status_of(conn, email.id) == "held"


async def test_what_a_lost_worker_had_marked_is_resolved_too(conn: Conn) -> None:
    await make.sender_account(conn)
    await make.queued_email(conn, delivery="hold")
    worker = await make.worker(conn)
    (email,) = await claim(conn, worker)
    await mark(conn, worker, [email])
    await lose(conn, worker)

    assert await resolve(conn, email.id, was_sent=True) == ["sent"]
    assert await difference(conn) == 0


async def test_what_was_held_after_a_restore_is_resolved_too(conn: Conn) -> None:
    await make.sender_account(conn)
    was_sent, was_not = await make.queued_emails(conn, 2)
    await conn.execute("SELECT mailqueue.hold_restored(now() - interval '1 h')")

    assert await resolve(conn, was_sent, was_sent=True) == ["sent"]
    assert await resolve(conn, was_not, was_sent=False) == ["queued"]
    assert await make.status_of(conn, was_sent) == "sent"
    assert await difference(conn) == 0


async def test_only_mail_held_for_its_unknown_fate_is_resolved(conn: Conn) -> None:
    await make.sender_account(conn)
    project = await make.project_named(conn)
    pending = await make.queued_email(conn)
    by_person = await make.queued_email(conn)
    await make.rows(conn, "SELECT mailqueue.hold_emails(%s, %s, 'wait')", project, [by_person])

    for email in (pending, by_person, uuid4()):
        assert await resolve(conn, email, was_sent=True) == []
        assert await resolve(conn, email, was_sent=False) == []

    assert await make.status_of(conn, by_person) == "held"


async def test_mail_of_another_project_is_not_resolved(conn: Conn) -> None:
    _, email = await in_doubt(conn)
    other = await make.project(conn)

    assert (
        await make.rows(
            conn, "SELECT * FROM mailqueue.resolve_emails(%s, %s, true)", other, [email.id]
        )
        == []
    )
    assert await make.status_of(conn, email.id) == "held"


@pytest.mark.parametrize("form", ["{0}", "<{1}@example.com>", "{1}@example.com"])
async def test_later_evidence_finishes_held_mail_by_id_or_message_id(conn: Conn, form: str) -> None:
    _, email = await in_doubt(conn)

    assert await evidence(conn, form.format(email.id, email.id.hex)) == "sent"

    reason = await make.scalar(conn, "SELECT reason FROM mailqueue.email_history")
    assert reason == "resolved by evidence: a delivery report"
    assert await resolved_events(conn, email.id) == [reason]


async def test_evidence_before_the_one_resend_saves_it(conn: Conn) -> None:
    worker, email = await in_doubt(conn, delivery="resend")
    assert await make.status_of(conn, email.id) == "pending"

    assert await evidence(conn, email.id) == "sent"

    assert await claim(conn, worker) == []
    assert await difference(conn) == 0


async def test_evidence_changes_nothing_that_is_certain_or_on_its_way(conn: Conn) -> None:
    worker, _ = await in_doubt(conn, delivery="resend")
    (again,) = await claim(conn, worker)
    never_tried = await make.queued_email(conn)

    assert await evidence(conn, again.id) == "unchanged: assigned"
    assert await evidence(conn, never_tried) == "unchanged: pending"
    assert await evidence(conn, uuid4()) == "unknown"
    assert await evidence(conn, "<abc@example.com>") == "unknown"
    assert await sent(conn, [again]) == []
    assert await evidence(conn, again.id) == "unchanged: sent"
    assert await row(conn, never_tried, "status") == ("pending",)


async def test_evidence_without_words_is_refused(conn: Conn) -> None:
    with pytest.raises(errors.InvalidParameterValue, match="evidence: is needed: what shows"):
        await evidence(conn, uuid4(), "")
