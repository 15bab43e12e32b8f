"""The published `sendgrid` library finds messages, and shows what happened to one."""

import json
from typing import Any
from uuid import uuid4

import pytest
from python_http_client.exceptions import BadRequestsError, ForbiddenError, NotFoundError
from sendgrid import SendGridAPIClient

from mailqueue.api.compat.sendgrid.messages import conditions_of
from mailqueue.db.pool import connect
from mailqueue.events.model import Type
from mailqueue.projects.model import Scope
from tests import make
from tests.clients.sendgrid.mails import hello, raw
from tests.clients.serving import Served
from tests.events.sent_mail import event, left, told


@pytest.fixture
def client(site: Served) -> Any:
    return SendGridAPIClient(site.keys.live, host=site.url).client


def read(response: Any) -> Any:
    return json.loads(response.body)


def found(client: Any, query: str, **more: Any) -> list[Any]:
    messages: list[Any] = read(client.messages.get(query_params={"query": query, **more}))[
        "messages"
    ]
    return messages


def sent(site: Served, to: str) -> str:
    answer = SendGridAPIClient(site.keys.live, host=site.url).send(hello(to))
    return str(answer.headers["X-Message-Id"])


async def _happened(site: Served) -> list[str]:
    """Return the ids of three mails: delivered, opened and clicked; bounced; only sent."""
    async with connect(site.database) as conn:
        account = await make.sender_account(conn, name=f"counted {uuid4()}"[:40])
        mails = [await left(conn, account) for _ in range(3)]
        shared: dict[str, Any] = {"account": account}
        await told(
            conn,
            event(Type.DELIVERED, email_id=mails[0], **shared),
            event(Type.OPENED, email_id=mails[0], **shared),
            event(Type.OPENED, email_id=mails[0], **shared),
            event(Type.CLICKED, email_id=mails[0], data={"url": "https://a.example"}, **shared),
            event(Type.HARD_BOUNCE, email_id=mails[1], detail="550 5.1.1 no such user", **shared),
        )
        return [str(one) for one in mails]


def test_a_message_is_found_by_its_recipient_and_sender(site: Served, client: Any) -> None:
    first, second = sent(site, "ann@find.example"), sent(site, "ann@find.example")
    sent(site, "bob@find.example")
    both = found(client, 'to_email="ann@find.example" AND from_email="from_email@example.com"')

    assert [one["msg_id"] for one in both] == [second, first]
    assert {key: both[0][key] for key in ("to_email", "from_email", "subject", "status")} == {
        "to_email": "ann@find.example",
        "from_email": "from_email@example.com",
        "subject": "Sending with Twilio SendGrid is Fun",
        "status": "processed",
    }
    assert [one["msg_id"] for one in found(client, 'to_email="ann@find.example"', limit=1)] == [
        second
    ]
    assert found(client, 'to_email="none@find.example"') == []


def test_a_message_is_found_by_its_id_with_what_happened_to_it(site: Served, client: Any) -> None:
    opened, bounced, waits = site.run(_happened(site))
    shown = [found(client, f'msg_id="{one}"')[0] for one in (opened, bounced, waits)]

    assert [one["status"] for one in shown] == ["delivered", "not_delivered", "processed"]
    assert [(one["opens_count"], one["clicks_count"]) for one in shown] == [(2, 1), (0, 0), (0, 0)]
    assert found(client, f'msg_id="{opened}.recvd-1"')[0]["msg_id"] == opened
    for none in (uuid4(), "x"):
        assert found(client, f'msg_id="{none}"') == []


def test_a_message_is_shown_with_its_events(site: Served, client: Any) -> None:
    opened, bounced, _ = site.run(_happened(site))
    one = read(client.messages._(opened).get())
    other = read(client.messages._(bounced).get())

    names = [each["event_name"] for each in one["events"]]
    assert names[0] == "processed"
    assert sorted(names[1:]) == ["clicked", "delivered", "opened", "opened"]
    assert [each.get("url") for each in one["events"] if each["event_name"] == "clicked"] == [
        "https://a.example"
    ]
    assert (one["msg_id"], one["status"]) == (opened, "delivered")
    assert other["events"][-1]["bounce_type"] == "hard"


def test_a_message_is_shown_with_what_was_sent(site: Served, client: Any) -> None:
    body = raw(categories=["news"], custom_args={"order": "81"}, asm={"group_id": 7})
    answer = SendGridAPIClient(site.keys.live, host=site.url).client.mail.send.post(
        request_body=body
    )
    shown = read(client.messages._(answer.headers["X-Message-Id"]).get())

    assert (shown["from_email"], shown["to_email"], shown["subject"]) == (
        "test@example.com",
        "test@example.com",
        "Sending",
    )
    assert (shown["categories"], shown["unique_args"], shown["asm_group_id"]) == (
        ["news"],
        {"order": "81"},
        7,
    )


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ('bad_field="x"', "'bad_field' is not a known field"),
        ('status="delivered"', "'status' is not a known field"),
        ("to_email=x", "write FIELD="),
        ('to_email="x" OR from_email="y"', "is not read"),
        ('to_email="x" AND', "write FIELD="),
        ('to_email="x" AND to_email="y"', "twice"),
        ('to_email="x" AND msg_id="y"', "stands alone"),
    ],
)
def test_what_is_not_read_of_a_query_is_named(client: Any, query: str, why: str) -> None:
    with pytest.raises(BadRequestsError) as caught:
        found(client, query)
    message = caught.value.to_dict["errors"][0]["message"]
    assert message.startswith("invalid syntax: ")
    assert why in message


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "x" * 2_001}, "query"),
        ({"query": 'to_email="x"', "limit": 1_001}, "limit"),
    ],
)
def test_an_invalid_parameter_is_named(client: Any, query: Any, field: str) -> None:
    with pytest.raises(BadRequestsError) as caught:
        client.messages.get(query_params=query)
    assert caught.value.to_dict["errors"][0]["field"] == field


def test_a_long_query_is_read_in_one_pass() -> None:
    assert conditions_of('to_email="' + "a" * 1_900 + '"') == {"to_email": "a" * 1_900}


def test_messages_are_of_the_keys_project_and_mode(site: Served, client: Any) -> None:
    own = sent(site, "own@find.example")
    for key in (site.keys.other, site.keys.test):
        foreign = SendGridAPIClient(key, host=site.url).client
        assert found(foreign, 'to_email="own@find.example"') == []
        assert found(foreign, f'msg_id="{own}"') == []
        with pytest.raises(NotFoundError):
            foreign.messages._(own).get()


def test_messages_need_their_scope(site: Served) -> None:
    narrow = SendGridAPIClient(site.key_with(Scope.EMAIL_SEND), host=site.url).client
    for call in (narrow.messages, narrow.messages._(str(uuid4()))):
        with pytest.raises(ForbiddenError):
            call.get(query_params={"query": 'to_email="x"'})
