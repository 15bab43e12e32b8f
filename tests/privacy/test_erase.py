"""An erased person is erased from every table, from message contents and from files."""

import json

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.privacy import persons
from mailqueue.suppression import entries
from tests import make
from tests.mail.claim.steps import claim, settle
from tests.privacy.erasing import erased, sent
from tests.privacy.planted_rows import ANN, let_anything_in, naming, plant

pytestmark = pytest.mark.anyio


async def row(conn: Conn, table: str, where: str, *params: object) -> dict[str, object]:
    query = f"SELECT to_jsonb(t)::text FROM mailqueue.{table} AS t WHERE {where}"
    found: dict[str, object] = json.loads(await make.scalar(conn, query, *params))
    return found


async def test_no_column_of_any_table_names_them_any_more(desk: MaintenanceContext) -> None:
    """Tables that are added later are tested as well."""
    conn = desk.conn
    await let_anything_in(conn)
    planted = await plant(conn, await make.project_named(conn))
    assert await naming(conn) == planted
    assert len(planted) > 100

    progress = await erased(desk)

    assert progress.is_done
    assert await naming(conn) == set()


async def test_every_kind_of_column_for_words_is_known(conn: Conn) -> None:
    kinds = await make.rows(
        conn,
        "SELECT DISTINCT t.typname::text FROM pg_attribute AS a"
        " JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_type AS t ON t.oid = a.atttypid"
        " WHERE c.relnamespace = 'mailqueue'::regnamespace AND c.relkind IN ('r', 'p')"
        " AND a.attnum > 0 AND t.typcategory IN ('S', 'U', 'A', 'X', 'C')"
        " AND t.typname NOT IN ('uuid', '_uuid', '_int4', '_int8', '_float8', '_interval',"
        " '_timestamptz', 'xid8')",
    )

    assert {kind for (kind,) in kinds} <= {"text", "_text", "json", "jsonb", "bytea", "name"}


async def test_a_mail_loses_who_it_went_to_and_what_it_said(desk: MaintenanceContext) -> None:
    mail = await sent(
        desk.conn,
        recipient_name="Ann Smith",
        subject="Your illness",
        custom_data='{"patient": 12}',
        idempotency_key="visit-12",
        campaign_id="spring",
    )

    await erased(desk)

    found = await row(desk.conn, "email_history", "id = %s", mail)
    assert (found["recipient_email"], found["recipient_name"]) == ("erased@erased.invalid", None)
    gone = ("custom_data", "idempotency_key", "message_id", "provider_message_id", "last_error")
    assert [found[name] for name in gone] == [None] * 5
    assert (found["status"], found["campaign_id"]) == ("sent", "spring")
    content = await row(desk.conn, "email_contents", "id = %s", found["content_id"])
    assert (content["subject"], content["text_body"]) == ("erased", "erased")
    log = await row(desk.conn, "send_logs", "email_id = %s", mail)
    assert (log["recipient_email"], log["reply"]) == ("erased@erased.invalid", None)
    assert log["custom_data"] is None
    assert await make.rows(desk.conn, "SELECT * FROM mailqueue.books WHERE difference <> 0") == []


async def test_an_attempt_loses_what_was_said(desk: MaintenanceContext) -> None:
    """Finished mail or not, and each recipient: the conversation names all of them."""
    conn = desk.conn
    await make.sender_account(conn)
    finished = await make.queued_email(conn, recipient_email="bob@example.com", cc=[ANN])
    queued = await make.queued_email(conn, recipient_email="bob@example.com", cc=[ANN])
    alone = await make.queued_email(conn, recipient_email=ANN)
    others = await make.queued_email(conn, recipient_email="bob@example.com")
    said = '{"protocol": "smtp", "lines": [{"ms": 1, "by": "server", "text": "550 user 4711"}]}'
    for email in await claim(conn, await make.worker(conn)):
        ending = Ending.RETRY if email.id == queued else Ending.FAILED
        await settle(conn, [email], ending, log=LogStatus.DEFERRED, conversation=said)

    await erased(desk)

    for mail in (finished, queued, alone):
        assert (await row(conn, "send_logs", "email_id = %s", mail))["conversation"] is None, mail
    kept = await row(conn, "send_logs", "email_id = %s", others)
    assert kept["conversation"] == json.loads(said)


async def test_what_others_were_sent_too_stays(desk: MaintenanceContext) -> None:
    conn = desk.conn
    await make.sender_account(conn)
    hers = await make.queued_email(conn, recipient_email=ANN, text_body=f"Ask {ANN}")
    his = await make.queued_email(conn, recipient_email="bob@example.com")
    # As mail of one call to several people has it.
    await make.by_hand(conn)
    await conn.execute(
        "UPDATE mailqueue.email_queue AS q SET content_id = o.content_id"
        " FROM mailqueue.email_queue AS o WHERE q.id = %s AND o.id = %s",
        (his, hers),
    )
    await make.queued_email(conn, recipient_email="bob@example.com", text_body="Only Bob")
    worker = await make.worker(conn)
    await settle(conn, await claim(conn, worker), Ending.SENT, log=LogStatus.SENT)

    await erased(desk)

    texts = {
        text for (text,) in await make.rows(conn, "SELECT text_body FROM mailqueue.email_contents")
    }
    assert "Only Bob" in texts
    assert "Ask erased@erased.invalid" in texts
    left = await make.rows(conn, "SELECT recipient_email FROM mailqueue.email_history ORDER BY 1")
    assert [each for (each,) in left] == [
        "bob@example.com",
        "bob@example.com",
        "erased@erased.invalid",
    ]


async def test_unfinished_mail_to_them_is_cancelled(desk: MaintenanceContext) -> None:
    await make.sender_account(desk.conn)
    mail = await make.queued_email(desk.conn, recipient_email="Ann@Example.com")

    await erased(desk)

    found = await row(desk.conn, "email_history", "id = %s", mail)
    assert (found["status"], found["reason"]) == ("cancelled", "erased")


@pytest.mark.parametrize("first", [True, False])
async def test_mail_to_several_goes_to_the_others(desk: MaintenanceContext, first: bool) -> None:
    await make.sender_account(desk.conn)
    to, cc = (ANN, "bob@example.com") if first else ("bob@example.com", ANN)
    mail = await make.queued_email(desk.conn, recipient_email=to, cc=[cc, "cy@example.com"])

    await erased(desk)

    found = await row(desk.conn, "email_queue", "id = %s", mail)
    assert (found["recipient_email"], found["recipients"]) == ("bob@example.com", 2)
    left = await make.rows(
        desk.conn,
        "SELECT position = 0, address FROM mailqueue.email_recipients WHERE email_id = %s"
        " ORDER BY position",
        mail,
    )
    assert left == [(True, "bob@example.com"), (False, "cy@example.com")]
    claims = await claim(desk.conn, await make.worker(desk.conn))
    assert [each.id for each in claims] == [mail]


async def test_mail_a_worker_holds_is_waited_for(desk: MaintenanceContext) -> None:
    await make.sender_account(desk.conn)
    await make.queued_email(desk.conn, recipient_email=ANN)
    claims = await claim(desk.conn, await make.worker(desk.conn))

    first = await erased(desk)
    await settle(desk.conn, claims, Ending.SENT, log=LogStatus.SENT)
    second = await erased(desk)

    assert (first.is_done, first.waiting) == (False, 1)
    assert second.is_done
    assert second.erasure.id == first.erasure.id


async def test_what_suppressed_them_goes_on_by_a_hash(desk: MaintenanceContext) -> None:
    conn = desk.conn
    await make.sender_account(conn)
    await conn.execute(
        "INSERT INTO mailqueue.unsubscribe_list (email, category) VALUES (%s, 'marketing')", (ANN,)
    )
    before = await entries.check(conn, "default", email=ANN, category="marketing")

    await erased(desk)

    after = await entries.check(conn, "default", email=ANN, category="marketing")
    assert (before.suppressed, after.suppressed) == (True, True)
    assert (after.reason, after.suppressions[0].email) == (before.reason, None)
    for category, is_sent in (("marketing", False), ("transactional", True)):
        mail = await make.queued_email(conn, recipient_email="ANN@example.com", category=category)
        status = await make.scalar(conn, "SELECT status FROM mailqueue.emails WHERE id = %s", mail)
        assert (status == "pending") == is_sent
    gone = await entries.remove_by_hash(conn, "default", address_hash=after.email_hash, by="tests")
    assert (gone.email, gone.removed) == (None, 1)


async def test_on_request_nothing_is_ever_sent_to_them_again(desk: MaintenanceContext) -> None:
    await make.sender_account(desk.conn)

    await erased(desk, suppress=True)

    mail = await make.queued_email(desk.conn, recipient_email=ANN)
    status = await make.scalar(desk.conn, "SELECT status FROM mailqueue.emails WHERE id = %s", mail)
    assert status == "suppressed"


async def test_mail_that_was_erased_is_never_sent_again(desk: MaintenanceContext) -> None:
    await make.sender_account(desk.conn)
    mail = await make.queued_email(desk.conn, recipient_email=ANN)
    await erased(desk)

    await desk.conn.execute(
        "SELECT * FROM mailqueue.requeue_emails(%s, %s)",
        (await make.project_named(desk.conn), [mail]),
    )

    assert await claim(desk.conn, await make.worker(desk.conn)) == []


async def test_another_project_and_another_person_keep_theirs(desk: MaintenanceContext) -> None:
    conn = desk.conn
    await make.sender_account(conn, project_id=await make.project(conn, "other"))
    await make.sender_account(conn)
    others = await make.queued_email(conn, project="other", recipient_email=ANN)
    joann = await make.queued_email(conn, recipient_email="joann@example.com")

    await erased(desk)

    for mail, address in ((others, ANN), (joann, "joann@example.com")):
        found = await row(conn, "email_queue", "id = %s", mail)
        assert found["recipient_email"] == address


async def test_what_people_set_up_is_told_and_stays(desk: MaintenanceContext) -> None:
    await make.sender_account(desk.conn, name="relay", email=ANN, status_reason=f"as {ANN} said")
    (project,) = await persons.projects(desk.conn, "default")
    counted = await persons.count(persons.lending(desk.conn), project, persons.spellings_of(ANN))

    await erased(desk)

    assert [(one.table, one.rows, one.is_settings) for one in counted] == [
        ("sender_accounts", 1, True)
    ]
    found = await row(desk.conn, "sender_accounts", "name = 'relay'")
    assert (found["email"], found["status_reason"]) == (ANN, "as erased@erased.invalid said")


async def test_the_audit_says_that_and_not_whom(desk: MaintenanceContext) -> None:
    progress = await erased(desk)

    found = await row(desk.conn, "audit_events", "action = 'person.erased'")
    assert found["actor"] == "tests"
    assert found["subject"] == f"address {progress.erasure.address_hash}"
    kept = await row(desk.conn, "erasures", "id = %s", progress.erasure.id)
    assert (kept["spellings"], kept["place"], kept["stage"]) == (None, {}, "done")
