"""Notices are mailed and told to webhooks: once an hour for each cause, each notice once."""

from uuid import UUID

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.events.sent_mail import event, left, told

pytestmark = pytest.mark.anyio
OPS = "ops@example.com"
TELL = "SELECT mailqueue.send_notices()"
MAILS = """
    SELECT q.id, q.recipient_email, c.subject, c.text_body FROM mailqueue.email_queue AS q
    JOIN mailqueue.email_contents AS c ON c.id = q.content_id AND c.created_on = q.content_on
    WHERE 'mailqueue.notice' = ANY (q.tags) ORDER BY q.created_at, q.id
"""
AN_HOUR_PASSES = """
    UPDATE mailqueue.notice_causes SET told_at = told_at - interval '1 h';
    UPDATE mailqueue.notices SET due_at = due_at - interval '1 h' WHERE due_at IS NOT NULL
"""
REFUSE = """
    INSERT INTO mailqueue.refusals (reason, message, project_id)
    SELECT 'tests', 'the disk is full', p.id FROM mailqueue.projects AS p WHERE p.name = 'default'
"""
WAITING = "SELECT count(*) FROM mailqueue.notices WHERE due_at IS NOT NULL"


async def mail_to(conn: Conn, address: str | None, project: str = "default") -> None:
    await conn.execute(
        "UPDATE mailqueue.projects SET notices_to = %s WHERE name = %s", (address, project)
    )


async def complaint(conn: Conn, account: int, **columns: object) -> UUID:
    mail = await left(conn, account, **columns)
    await told(conn, event(Type.COMPLAINT, account=account, email_id=mail))
    return mail


async def hook(conn: Conn, types: list[str], format_: str = "mailqueue") -> None:
    await conn.execute(
        "INSERT INTO mailqueue.webhooks (project_id, url, event_types, sealed_secret, format)"
        " SELECT p.id, 'https://hooks.example.com/', %s, '', %s"
        " FROM mailqueue.projects AS p WHERE p.name = 'default'",
        (types, format_),
    )


async def test_a_complaint_is_mailed_with_its_reason_and_without_the_recipient(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await mail_to(conn, OPS)
    mail = await complaint(conn, account)

    assert await make.scalar(conn, TELL) == 1
    assert await make.scalar(conn, TELL) == 0

    [(email, recipient, subject, text)] = await make.rows(conn, MAILS)
    assert (recipient, subject) == (OPS, "default: a recipient complained about a mail")
    assert str(mail) in text
    assert "mailqueue event notices --project default" in text
    assert "ann@example.com" not in text
    row = "SELECT told_in, told_error, due_at, seen_at FROM mailqueue.notices"
    assert await make.rows(conn, row) == [(email, None, None, None)]


async def test_of_each_cause_one_mail_is_sent_per_hour_with_all_that_came_up(conn: Conn) -> None:
    first, second = await make.sender_account(conn), await make.sender_account(conn, name="other")
    await mail_to(conn, OPS)
    await complaint(conn, first)
    assert await make.scalar(conn, TELL) == 1
    for number in range(25):
        await complaint(conn, first, recipient_email=f"u{number}@example.com")
    await complaint(conn, second, recipient_email="eve@example.com")

    assert await make.scalar(conn, TELL) == 1, "of the other account"
    assert await make.scalar(conn, WAITING) == 25
    await conn.execute(AN_HOUR_PASSES.encode())
    assert await make.scalar(conn, TELL) == 1
    assert await make.scalar(conn, TELL) == 0

    mails = await make.rows(conn, MAILS)
    assert [one[2] for one in mails][-1] == "default: 25 notices (complaint)"
    assert mails[-1][3].count("a recipient complained") == 20
    assert "and 5 more" in mails[-1][3]
    assert len(mails) == 3
    assert await make.scalar(conn, WAITING) == 0


@pytest.mark.parametrize(
    ("types", "count"), [([], 1), (["project.notice"], 1), (["email.sent"], 0)]
)
async def test_webhooks_that_subscribe_are_told_with_kind_and_reason(
    conn: Conn, types: list[str], count: int
) -> None:
    account = await make.sender_account(conn)
    await hook(conn, types)
    await hook(conn, [], "resend")
    mail = await complaint(conn, account)

    assert await make.scalar(conn, TELL) == count

    found = await make.rows(
        conn,
        "SELECT e.payload FROM mailqueue.webhook_deliveries AS d"
        " JOIN mailqueue.webhook_events AS e ON e.id = d.event_id WHERE d.type = 'project.notice'",
    )
    assert len(found) == count
    for (payload,) in found:
        assert payload["type"] == "project.notice"
        data = payload["data"]
        assert (data["code"], data["email_id"]) == ("complaint", str(mail))
        assert data["reason"] == "a recipient complained about a mail"
        assert data["recipient"] is None
    assert await make.rows(conn, MAILS) == []
    assert await make.scalar(conn, WAITING) == 0


async def test_without_an_address_and_webhooks_nothing_waits(conn: Conn) -> None:
    await complaint(conn, await make.sender_account(conn))

    assert await make.scalar(conn, TELL) == 0
    assert await make.scalar(conn, WAITING) == 0
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.notices") == 1


async def test_a_complaint_about_a_mail_that_tells_of_notices_is_not_told(conn: Conn) -> None:
    account = await make.sender_account(conn)
    await mail_to(conn, OPS)
    mail = await left(conn, account, recipient_email=OPS)
    await conn.execute(
        "UPDATE mailqueue.email_history SET tags = '{mailqueue.notice}' WHERE id = %s", (mail,)
    )
    await told(conn, event(Type.COMPLAINT, account=account, email_id=mail))

    assert await make.scalar(conn, TELL) == 0
    assert await make.rows(conn, MAILS) == []
    assert await make.scalar(conn, WAITING) == 0


async def test_a_mail_that_is_refused_is_tried_each_hour_for_a_day_and_stops_no_other_project(
    conn: Conn,
) -> None:
    await conn.execute("SELECT mailqueue.add_project('shop')")
    shop = await make.project_named(conn, "shop")
    accounts = [await make.sender_account(conn), await make.sender_account(conn, project_id=shop)]
    await mail_to(conn, OPS)
    await mail_to(conn, "shop@example.com", "shop")
    await conn.execute(REFUSE.encode())
    await complaint(conn, accounts[0])
    await complaint(conn, accounts[1], project_id=shop, recipient_email="eve@example.com")

    assert await make.scalar(conn, TELL) == 2

    assert [row[1] for row in await make.rows(conn, MAILS)] == ["shop@example.com"]
    row = "SELECT told_error, due_at > now() + interval '50 min' FROM mailqueue.notices"
    ((error, waits),) = await make.rows(conn, f"{row} WHERE told_error IS NOT NULL")
    assert "the disk is full" in error
    assert waits
    await conn.execute("DELETE FROM mailqueue.refusals")
    await conn.execute(AN_HOUR_PASSES.encode())
    assert await make.scalar(conn, TELL) == 1
    assert len(await make.rows(conn, MAILS)) == 2
    assert await make.rows(conn, f"{row} WHERE told_error IS NOT NULL") == []

    await conn.execute(
        "UPDATE mailqueue.notices SET due_at = now(), noticed_at = now() - interval '2 d'"
    )
    await conn.execute(AN_HOUR_PASSES.encode())
    await conn.execute(REFUSE.encode())
    await make.scalar(conn, TELL)
    assert await make.scalar(conn, WAITING) == 0


async def test_two_workers_tell_of_a_cause_once(database: DatabaseSettings) -> None:
    async with connect(database) as one, connect(database) as other:
        account = await make.sender_account(one)
        await mail_to(one, OPS)
        await complaint(one, account)
        async with one.transaction():
            assert await make.scalar(one, TELL) == 1
            assert await make.scalar(other, TELL) == 0
        assert await make.scalar(other, TELL) == 0
        assert len(await make.rows(one, MAILS)) == 1


QUARTERS = """
    INSERT INTO mailqueue.stats_quarters (project_id, is_test, dimension, value, value2, started_at,
                                          sent, hard_bounces)
    SELECT p.id, false, 'domain', %s, '', date_trunc('hour', now()) - make_interval(hours => %s),
           %s, %s FROM mailqueue.projects AS p WHERE p.name = 'default'
"""


@pytest.mark.parametrize(
    ("before", "today", "count"),
    [
        ((1000, 10), (200, 10), 1),
        ((1000, 10), (200, 9), 0),  # below a twentieth
        ((1000, 20), (200, 11), 0),  # below three times as many as before
        ((99, 0), (200, 50), 0),  # too few to compare with
        ((1000, 0), (99, 50), 0),  # too few
    ],
)
async def test_a_domain_that_refuses_more_than_in_the_week_before_is_named_once(
    conn: Conn, before: tuple[int, int], today: tuple[int, int], count: int
) -> None:
    await mail_to(conn, OPS)
    for hours, (sent, bounced) in ((50, before), (3, today)):
        await conn.execute(QUARTERS, ("example.net", hours, sent, bounced))
        await conn.execute(QUARTERS, ("example.org", hours, 500, 5))

    assert await make.scalar(conn, "SELECT mailqueue.judge_domains()") == count
    assert await make.scalar(conn, "SELECT mailqueue.judge_domains()") == 0
    assert await make.scalar(conn, TELL) == count
    for *_, subject, _text in await make.rows(conn, MAILS):
        assert subject == (
            "default: example.net refused or bounced 10 of 200 emails of the last day (5.0 %),"
            " after 1.0 % in the week before"
        )
