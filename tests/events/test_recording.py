"""Events are matched to their mail, recorded once, and never set a state back."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.core.storable_text import storable_json
from mailqueue.db.fetch import Conn
from mailqueue.events.model import RecordResult, ReportedEvent, Suppress, Type
from tests import make
from tests.events.sent_mail import NOON, also_to, event, left, told

pytestmark = pytest.mark.anyio
RECORDED, REPEATED, UNMATCHED = RecordResult.RECORDED, RecordResult.REPEATED, RecordResult.UNMATCHED


async def types(conn: Conn) -> list[str]:
    found = await make.rows(conn, "SELECT type FROM mailqueue.email_events ORDER BY id")
    return [row[0] for row in found]


async def test_of_the_mails_of_one_message_the_one_to_the_recipient_is_found(conn: Conn) -> None:
    mails: dict[str, UUID] = {}
    for number in range(20):
        mail = await left(conn, None, recipient_email=f"a{number}@x.yz", message_id="<many@x.yz>")
        await also_to(conn, mail, f"a{number}@x.yz", f"b{number}@x.yz")
        mails |= {f"A{number}@x.yz": mail, f"b{number}@x.yz": mail}

    for address, mail in mails.items():
        one = event(Type.DELIVERED, message_id="<many@x.yz>", recipient=address)
        assert await told(conn, one) == [RECORDED]
        query = "SELECT email_id FROM mailqueue.email_events WHERE recipient_email = %s"
        assert await make.scalar(conn, query, address.lower()) == mail


async def test_mail_is_found_by_id_message_id_and_what_its_provider_calls_it(conn: Conn) -> None:
    account = await make.sender_account(conn)
    mail = await left(conn, account, provider_message_id="<prov-1@mg.example.com>")
    raw = await left(conn, account, message_id="<own-1@client.example.com>")
    queued = await make.queued_email(conn)
    known: tuple[tuple[dict[str, Any], UUID], ...] = (
        ({"email_id": mail}, mail),
        ({"message_id": f"<{mail.hex}@example.com>"}, mail),
        ({"message_id": f"{mail.hex}@example.com"}, mail),
        ({"provider_message_id": "prov-1@mg.example.com"}, mail),
        ({"provider_message_id": "<prov-1@mg.example.com>"}, mail),
        ({"message_id": "own-1@client.example.com"}, raw),
        ({"email_id": queued}, queued),
    )
    for number, (names, wanted) in enumerate(known):
        one = event(Type.OPENED, account=account, detail=str(number), **names)
        assert await told(conn, one) == [RECORDED]
        of_it = "SELECT email_id FROM mailqueue.email_events WHERE detail = %s"
        assert await make.scalar(conn, of_it, str(number)) == wanted, names


async def test_mail_of_another_project_is_no_mail(conn: Conn) -> None:
    other = await make.project(conn)
    theirs = await make.sender_account(conn, project_id=other)
    ours = await make.sender_account(conn)
    mail = await left(conn, ours, provider_message_id="p-1")

    for names in ({"email_id": mail}, {"provider_message_id": "p-1"}):
        assert await told(conn, event(Type.COMPLAINT, account=theirs, **names)) == [UNMATCHED]
    assert await told(conn, event(Type.COMPLAINT, account=10**8, email_id=mail)) == [UNMATCHED]
    assert await types(conn) == []
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.suppressions") == 0


async def test_an_event_is_recorded_once_for_good_whatever_comes_with_it(conn: Conn) -> None:
    account = await make.sender_account(conn)
    mail, another = await left(conn, account), await left(conn, account)
    first = event(Type.DELIVERED, account=account, email_id=mail, event_id="e")
    again = event(Type.OPENED, account=account, email_id=another, event_id="e")

    assert await told(conn, first, first) == [RECORDED, REPEATED]
    assert await told(conn, again) == [REPEATED]
    of_another = event(Type.OPENED, source="dsn", account=account, email_id=mail, event_id="e")
    assert await told(conn, of_another) == [RECORDED]
    unnamed = event(Type.OPENED, email_id=mail, event_id=None)
    assert await told(conn, unnamed, unnamed) == [RECORDED, RECORDED]


async def test_an_unmatched_event_may_come_again(conn: Conn) -> None:
    late = uuid4()
    one = event(Type.DELIVERED, email_id=late)
    assert await told(conn, one) == [UNMATCHED]
    await left(conn, id=late)
    assert await told(conn, one) == [RECORDED]


async def test_hostile_elements_do_not_affect_others(conn: Conn) -> None:
    mail = await left(conn)
    documents = (
        '[5, null, "x", [], {}, {"type": {"a": 1}}, {"type": "queued", "email_id": "%s"},'
        ' {"type": "opened", "email_id": "nothing"}, {"type": "opened", "email_id": 7},'
        ' {"type": "opened", "account": "1e9", "occurred_at": "2026-13-45T00:00:00Z",'
        ' "data": [1], "email_id": "%s"},'
        ' {"type": "opened", "email_id": "%s", "occurred_at": "99999999999"},'
        ' {"type": "opened", "email_id": "%s", "occurred_at": "infinity", "suppress": "no"}]'
    ).replace("%s", str(mail))
    found = await make.rows(conn, "SELECT result FROM mailqueue.record_events(%s)", documents)
    assert [row[0] for row in found] == [*["ignored"] * 7, *["unmatched"] * 2, *["recorded"] * 3]
    newest = "SELECT max(occurred_at) <= clock_timestamp() FROM mailqueue.email_events"
    assert await make.scalar(conn, newest)


async def test_python_gives_nothing_that_cannot_be_stored(conn: Conn) -> None:
    mail = await left(conn)
    wild = ReportedEvent(
        "a\0b",
        Type.CLICKED,
        email_id=mail,
        event_id="\ud800",
        detail="x\0y",
        data={"url": "\udfff", "n": float("nan"), "list": ["\0"]},
    )
    assert storable_json({"a": float("inf")}) == {"a": None}
    assert await told(conn, wild) == [RECORDED]


async def test_times_stay_within_the_life_of_the_mail_and_the_months_there_are(conn: Conn) -> None:
    now = datetime.now(UTC)
    mail = await left(conn, created_at=now - timedelta(days=400))
    fresh = await left(conn, created_at=NOON)
    await told(
        conn,
        event(Type.DELIVERED, email_id=mail, occurred_at=now + timedelta(days=3)),
        event(Type.OPENED, email_id=fresh, occurred_at=NOON - timedelta(days=3)),
        event(Type.CLICKED, email_id=mail, occurred_at=now - timedelta(days=390)),
    )
    found = await make.rows(
        conn,
        "SELECT type, occurred_at, data ->> 'said_at' FROM mailqueue.email_events"
        " ORDER BY array_position('{delivered,opened,clicked}', type)",
    )
    assert abs(found[0][1] - now) < timedelta(minutes=5)
    assert found[1][1] == NOON
    oldest = "SELECT (mailqueue.event_months(now()))[1]"
    assert found[2][1] == await make.scalar(conn, oldest)
    assert all(row[2] is not None for row in found)


async def test_a_late_deferral_never_takes_delivery_back(conn: Conn) -> None:
    mail = await left(conn)

    async def state() -> tuple[object, ...]:
        [row] = await make.rows(
            conn,
            "SELECT delivery, bounced, is_complaint, opens FROM mailqueue.deliveries"
            " WHERE email_id = %s",
            mail,
        )
        return row

    await told(conn, event(Type.SENT, email_id=mail))
    assert await state() == ("sent", None, False, 0)
    await told(conn, event(Type.DELIVERED, email_id=mail), event(Type.DEFERRED, email_id=mail))
    assert await state() == ("delivered", None, False, 0)
    await told(
        conn,
        event(Type.HARD_BOUNCE, email_id=mail),
        event(Type.COMPLAINT, email_id=mail),
        event(Type.DELIVERED, email_id=mail),
        event(Type.OPENED, email_id=mail, data={"is_machine": True}),
        event(Type.OPENED, email_id=mail, data={"ip": "192.0.2.0/24", "user_agent": "x"}),
    )
    assert await state() == ("delivered", "hard", True, 1)
    opened = await make.rows(
        conn, "SELECT ip_address::text, user_agent, is_machine FROM mailqueue.open_events"
    )
    assert sorted(opened, key=str) == [("192.0.2.0/24", "x", False), (None, None, True)]
    history = await make.rows(
        conn,
        "SELECT status, delivery, bounced, is_complaint FROM mailqueue.recipient_history"
        " WHERE address = 'ann@example.com'",
    )
    assert history == [("sent", "delivered", "hard", True)]


async def in_doubt(conn: Conn, **columns: object) -> object:
    mail = await make.queued_email(conn)
    await conn.execute(
        "UPDATE mailqueue.email_queue SET status = 'held', unknowns = 1, last_error ="
        " 'outcome_unknown: no answer' WHERE id = %s",
        (mail,),
    )
    return mail


async def test_evidence_finishes_mail_of_unknown_fate_once(conn: Conn) -> None:
    mail = await in_doubt(conn)
    [held] = await make.rows(conn, "SELECT fix FROM mailqueue.held")
    assert "mailqueue resolve" in held[0]

    one = event(Type.DELIVERED, email_id=mail, provider_message_id="p-9")
    two = event(Type.OPENED, email_id=mail)
    assert await told(conn, one, two) == [RECORDED, RECORDED]
    assert await told(conn, event(Type.CLICKED, provider_message_id="p-9")) == [RECORDED]

    assert sorted(await types(conn)) == ["clicked", "delivered", "opened", "resolved"]
    [row] = await make.rows(
        conn, "SELECT status, provider_message_id FROM mailqueue.email_history WHERE id = %s", mail
    )
    assert row == ("sent", "p-9")
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue") == 0


async def test_recipients_are_ours_and_what_was_said_stands_beside(conn: Conn) -> None:
    single, several = await left(conn), await left(conn)
    await also_to(conn, several, "Ann@example.com", "bob@example.com")
    await told(
        conn,
        event(Type.DELIVERED, email_id=single, recipient="forwarded@example.org"),
        event(Type.DELIVERED, email_id=several, recipient="ANN@example.com"),
        event(Type.DELIVERED, email_id=several, recipient="other@example.org"),
    )
    found = await make.rows(
        conn,
        "SELECT recipient_email, data ->> 'said_recipient' FROM mailqueue.email_events",
    )
    assert set(found) == {
        ("ann@example.com", "forwarded@example.org"),
        ("Ann@example.com", None),
        (None, "other@example.org"),
    }


@pytest.mark.parametrize("kind", [Type.HARD_BOUNCE, Type.SOFT_BOUNCE, Type.COMPLAINT, Type.FAILED])
async def test_a_failure_of_another_address_is_not_the_recipients(conn: Conn, kind: Type) -> None:
    mail = await left(conn)

    await told(
        conn,
        *(
            event(kind, email_id=mail, recipient="archive@example.org", suppress=Suppress.MANUAL)
            for _ in range(5)
        ),
    )

    query = "SELECT DISTINCT recipient_email, data ->> 'said_recipient' FROM mailqueue.email_events"
    assert await make.rows(conn, query) == [(None, "archive@example.org")]
    for table in ("suppressions", "bounce_list"):
        assert await make.scalar(conn, f"SELECT count(*) FROM mailqueue.{table}") == 0

    await told(
        conn, event(kind, email_id=mail, recipient="ANN@Example.com", suppress=Suppress.MANUAL)
    )
    listed = "SELECT address FROM mailqueue.suppressions"
    assert await make.rows(conn, listed) == [("ann@example.com",)]
