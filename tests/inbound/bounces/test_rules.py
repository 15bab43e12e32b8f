"""Rules of a project on bounce mail, and what names the mail that reported a bounce."""

import pytest

from mailqueue.inbound.bounces.events import IGNORED
from tests import make
from tests.events.sent_mail import left
from tests.inbound.bounces.bounce_mail import BounceReceiver, failed, report

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_yet")]


async def test_bounce_mail_of_a_sender_whom_a_rule_names_changes_nothing_until_it_is_bypassed(
    office: BounceReceiver,
) -> None:
    rule = (
        "INSERT INTO mailqueue.project_rules (project_id, kind, subject, created_by)"
        " SELECT id, 'inbound_rule', %s, 'test' FROM mailqueue.projects WHERE name = %s"
    )
    await office.conn.execute(rule, ("mx.example.com", "default"))
    mail = await left(office.conn, recipient_email="ann@example.com")
    way_back = await office.way_back(mail)

    ignored = await office.take(report(failed("ann@example.com")), recipient=way_back)

    assert ignored == {"events": {}, "unknown": [IGNORED]}
    assert (await office.events(), await office.suppressed()) == ([], [])
    project_id = await make.scalar(
        office.conn,
        "UPDATE mailqueue.inbound_events SET project_id = p.id FROM mailqueue.projects AS p"
        " WHERE p.name = 'default' RETURNING p.id",
    )
    again = (
        "SELECT mailqueue.read_bounce_mail_again(%s, e.id, %s, %s, 'test')"
        " FROM mailqueue.inbound_events AS e"
    )
    asked = [
        await make.scalar(office.conn, again, project_id, state, IGNORED)
        for state in ("failed", "blocked", "blocked")
    ]
    assert asked == [False, True, False]
    await office.work()

    assert await office.suppressed() == ["ann@example.com"]
    await office.conn.execute("DELETE FROM mailqueue.project_rules")
    await make.project(office.conn, "neighbour")
    added = await office.conn.execute(rule, ("mailer-daemon@mx.example.com", "neighbour"))
    assert added.rowcount == 1
    second = await left(office.conn, recipient_email="bob@example.com")
    await office.take(report(failed("bob@example.com")), recipient=await office.way_back(second))
    assert len(await office.suppressed()) == 2, "a rule of another project"
    await office.conn.execute("DELETE FROM mailqueue.project_rules")


async def test_a_bounce_names_the_mail_that_reported_it(office: BounceReceiver) -> None:
    mail = await left(office.conn, recipient_email="ann@example.com")
    raw = report(failed("ann@example.com"))
    await office.take(raw, recipient=await office.way_back(mail))

    found = await make.rows(
        office.conn,
        "SELECT d.body FROM mailqueue.email_events AS v,"
        " LATERAL mailqueue.bounce_dump(v.project_id, v.id, v.occurred_at) AS d",
    )
    assert [bytes(body) for (body,) in found] == [raw]
    await office.conn.execute("UPDATE mailqueue.inbound_events SET body = NULL")
    gone = await make.rows(
        office.conn,
        "SELECT FROM mailqueue.email_events AS v,"
        " LATERAL mailqueue.bounce_dump(v.project_id, v.id, v.occurred_at)",
    )
    assert gone == [], "past its retention"
