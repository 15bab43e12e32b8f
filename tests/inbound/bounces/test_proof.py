"""Forged bounces suppress nothing: a bounce needs our signature, or a mail sent to the address."""

from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest

from mailqueue.db.fetch import Conn
from tests import make
from tests.events.sent_mail import also_to, left
from tests.inbound.bounces.bounce_mail import BounceReceiver, failed, report

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_yet")]


async def sent(conn: Conn, address: str = "ann@example.com", **columns: Any) -> UUID:
    return await left(conn, recipient_email=address, **columns)


async def test_a_signed_return_path_names_the_mail_and_whom_it_went_to(
    office: BounceReceiver,
) -> None:
    """A forwarding server names another address; the one that the mail was sent to is
    suppressed.
    """
    mail = await sent(office.conn)
    way_back = await office.way_back(mail)

    outcome = await office.take(report(failed("ann@elsewhere.example.net")), recipient=way_back)

    assert outcome["events"] == {"recorded": 1}
    assert await office.events() == [("hard_bounce", "ann@example.com", "5.1.1", "dsn")]
    assert await office.suppressed() == ["ann@example.com"]


async def test_the_return_path_is_found_in_the_head_where_there_is_no_envelope(
    office: BounceReceiver,
) -> None:
    mail = await sent(office.conn)
    way_back = await office.way_back(mail)

    await office.take(report(failed("ann@example.com"), to=way_back.upper()))

    assert await office.suppressed() == ["ann@example.com"]


async def test_one_letter_of_it_changed_proves_nothing(office: BounceReceiver) -> None:
    mail = await sent(office.conn)
    way_back = await office.way_back(mail)
    at = way_back.index("@") - 3
    forged = way_back[:at] + ("a" if way_back[at] != "a" else "b") + way_back[at + 1 :]

    outcome = await office.take(report(failed("ann@example.com")), recipient=forged)

    assert outcome["events"] == {}
    assert "its return path is forged" in outcome["unknown"][0]
    assert (await office.events(), await office.suppressed()) == ([], [])


async def test_an_old_return_path_proves_nothing(office: BounceReceiver) -> None:
    mail = await sent(office.conn)

    outcome = await office.take(
        report(failed("ann@example.com")), recipient=await office.way_back(mail, days_ago=70)
    )

    assert "too old" in outcome["unknown"][0]
    assert await office.suppressed() == []


async def test_a_message_id_we_sent_to_that_recipient_proves_it(office: BounceReceiver) -> None:
    mail = await sent(office.conn)

    await office.take(report(failed("Ann@Example.COM"), message_id=f"<{mail.hex}@example.com>"))

    assert await office.suppressed() == ["ann@example.com"]


async def test_a_message_id_with_another_recipient_proves_nothing(
    office: BounceReceiver,
) -> None:
    mail = await sent(office.conn)

    outcome = await office.take(
        report(failed("bob@example.com"), message_id=f"<{mail.hex}@example.com>")
    )

    assert "was not sent to the recipient it names" in outcome["unknown"][0]
    assert (await office.events(), await office.suppressed()) == ([], [])


@pytest.mark.parametrize("domain", ["example.org", "evil.example"])
async def test_the_id_of_a_mail_with_another_domain_is_no_message_id_of_ours(
    office: BounceReceiver, domain: str
) -> None:
    mail = await sent(office.conn)

    await office.take(report(failed("ann@example.com"), message_id=f"<{mail.hex}@{domain}>"))

    assert await office.suppressed() == []


async def test_a_bounce_of_no_mail_of_ours_is_kept_and_says_why(office: BounceReceiver) -> None:
    outcome = await office.take(report(failed("ann@example.com")))

    assert outcome["unknown"] == [
        "dsn hard 5.1.1, not proved: its return path is not one of ours, and we sent no mail with"
        " the Message-ID that came back"
    ]
    assert await office.suppressed() == []


async def test_finished_messages_are_known_by_the_message_id_they_came_with(
    office: BounceReceiver,
) -> None:
    await sent(office.conn, message_id="<their-own@program.example>")

    await office.take(report(failed("ann@example.com"), message_id="<their-own@program.example>"))

    assert await office.suppressed() == ["ann@example.com"]


async def test_of_the_mails_of_one_message_the_one_to_who_failed_is_meant(
    office: BounceReceiver,
) -> None:
    own = "<to-many@program.example>"
    for number in range(0, 60, 2):
        mail = await sent(office.conn, f"p{number}@example.com", message_id=own)
        some = (f"p{number}@example.com", f"p{number + 1}@example.com")
        await also_to(office.conn, mail, *some)

    for number in (58, 3, 0):
        await office.take(report(failed(f"P{number}@Example.com"), message_id=own))

    assert sorted(await office.suppressed()) == [f"p{n}@example.com" for n in (0, 3, 58)]


async def test_of_several_recipients_only_who_is_named_failed(office: BounceReceiver) -> None:
    mail = await sent(office.conn)
    await also_to(office.conn, mail, "ann@example.com", "bob+news@example.com", "cy@example.com")
    groups = (
        failed("x@relay.example.net", more="Original-Recipient: rfc822;bob+2Bnews@example.com\n"),
        failed("cy@example.com", "4.2.2", "452 4.2.2 mailbox full"),
        failed("stranger@example.com"),
    )

    await office.take(report(*groups), recipient=await office.way_back(mail))

    assert set(await office.events()) == {
        ("hard_bounce", "bob+news@example.com", "5.1.1", "dsn"),
        ("soft_bounce", "cy@example.com", "4.2.2", "dsn"),
        ("hard_bounce", None, "5.1.1", "dsn"),
    }
    assert await office.suppressed() == ["bob+news@example.com"]


async def test_a_return_path_of_one_of_several_names_it(office: BounceReceiver) -> None:
    mail = await sent(office.conn)
    await also_to(office.conn, mail, "ann@example.com", "bob@example.com")

    await office.take(
        report(failed("b@elsewhere.example")), recipient=await office.way_back(mail, recipient=2)
    )

    assert await office.suppressed() == ["bob@example.com"]


async def test_the_same_bounce_a_thousand_times_counts_once(office: BounceReceiver) -> None:
    mail = await sent(office.conn)
    way_back = await office.way_back(mail)

    for number in range(5):
        own_id = f"<dsn-{number}@mx.example.com>"
        raw = report(failed("ann@example.com", "5.2.2", "552 5.2.2 full"), own_id=own_id)
        await office.take(raw, recipient=way_back)

    assert await office.events() == [("soft_bounce", "ann@example.com", "5.2.2", "dsn")]


async def test_a_refusal_by_policy_says_nothing_of_the_address(office: BounceReceiver) -> None:
    mail = await sent(office.conn)
    words = "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.example.org"

    await office.take(
        report(failed("ann@example.com", "5.7.1", words)), recipient=await office.way_back(mail)
    )

    assert await office.events() == [("soft_bounce", "ann@example.com", "5.7.1", "dsn")]
    assert await make.scalar(office.conn, "SELECT count(*) FROM mailqueue.bounce_list") == 0
    assert await office.suppressed() == []


@pytest.mark.parametrize(
    ("action", "status", "what"),
    [
        ("delayed", "4.4.1", "deferred"),
        ("delivered", "2.0.0", "delivered"),
        ("relayed", "2.0.0", "delivered"),
        ("expanded", "2.0.0", "delivered"),
    ],
)
async def test_other_actions_are_no_failures(
    office: BounceReceiver, action: str, status: str, what: str
) -> None:
    mail = await sent(office.conn)
    group = f"Final-Recipient: rfc822; ann@example.com\nAction: {action}\nStatus: {status}"

    await office.take(report(group), recipient=await office.way_back(mail))

    assert [one[0] for one in await office.events()] == [what]
    assert await office.suppressed() == []


async def test_an_absence_note_to_the_return_path_changes_nothing(office: BounceReceiver) -> None:
    mail = await sent(office.conn)
    raw = (
        b"From: Ann <ann@example.com>\nSubject: Out of Office: Hi\nAuto-Submitted: auto-replied\n"
        b"\nI am away. User unknown, mailbox full, 550 5.1.1.\n"
    )

    outcome = await office.take(raw, recipient=await office.way_back(mail))

    assert outcome["unknown"] == ["autoreply"]
    assert (await office.events(), await office.suppressed()) == ([], [])


async def test_what_came_by_an_account_is_about_mail_of_its_project_alone(
    office: BounceReceiver,
) -> None:
    other = await make.project(office.conn, f"other-{uuid4().hex[:8]}")
    account = await make.sender_account(office.conn, project_id=other)
    mail = await sent(office.conn)
    raw = report(failed("ann@example.com"), message_id=f"<{mail.hex}@example.com>")

    await office.take(raw, recipient=await office.way_back(mail), account=account)

    assert (await office.events(), await office.suppressed()) == ([], [])


async def test_a_key_of_another_project_signs_nothing_of_ours(office: BounceReceiver) -> None:
    name = f"other-{uuid4().hex[:8]}"
    await make.project(office.conn, name)
    mail = await sent(office.conn)

    await office.take(
        report(failed("ann@example.com")), recipient=await office.way_back(mail, project=name)
    )

    assert (await office.events(), await office.suppressed()) == ([], [])


async def test_a_message_that_was_taken_apart_is_read_alike(office: BounceReceiver) -> None:
    mail = await sent(office.conn)
    way_back = await office.way_back(mail)
    status = f"Reporting-MTA: dns; mx.example.com\n\n{failed('ann@example.com')}"
    said = {
        "sender": "",
        "recipient": [way_back],
        "headers": {
            "From": "MAILER-DAEMON@mx.example.com",
            "Subject": "Undelivered",
            "Content-Type": 'multipart/report; report-type=delivery-status; boundary="x"',
        },
        "text": "failed",
        "parts": [{"content_type": "message/delivery-status", "content": status}],
    }

    await office.take(orjson.dumps(said), content_type="application/json")

    assert await office.suppressed() == ["ann@example.com"]
