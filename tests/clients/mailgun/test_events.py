"""The published `mailgun` library lists the events of a message and of a recipient."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import requests
from mailgun.client import Client

from tests.clients.mailgun.mails import DOMAIN, HI
from tests.clients.serving import Served

KINDS = ("delivered", "opened", "clicked", "hard_bounce", "complaint")
WORDS = ["accepted", "delivered", "opened", "clicked", "failed", "complained"]
TO = "to@example.org"


@pytest.fixture(scope="module")
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


@pytest.fixture(scope="module")
def message(site: Served, client: Client) -> str:
    """Return the Message-ID of a mail to which each event happened once, a minute apart."""
    return happened(site, client, TO)


def happened(site: Served, client: Client, to: str) -> str:
    data = HI | {"to": to, "o:tag": "order", "v:order": "81"}
    message_id = str(client.messages.create(data=data, domain=DOMAIN).json()["id"])
    events = [
        {
            "type": kind,
            "message_id": message_id,
            "recipient": to,
            "source": "ses",
            "event_id": uuid4().hex,
            "code": "5.1.1",
            "detail": "550 5.1.1 no such mailbox",
            "data": {"url": "https://example.com/a"} if kind == "clicked" else {},
        }
        for kind in KINDS
    ]
    site.rows("SELECT result FROM mailqueue.record_events(%s::jsonb)", json.dumps(events))
    for number, kind in enumerate(KINDS):
        site.rows(
            "UPDATE mailqueue.email_events SET occurred_at = now() + %s * interval '1 minute'"
            " WHERE type = %s AND recipient_email = %s RETURNING 1",
            number + 1,
            kind,
            to,
        )
    return message_id


def ask(client: Client, **filters: Any) -> Any:
    answer = client.events.get(domain=DOMAIN, filters=filters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def words(found: Any) -> list[str]:
    return [one["event"] for one in found["items"]]


def test_the_events_of_a_message_are_those_of_webhooks(client: Client, message: str) -> None:
    found = ask(client, **{"message-id": message.strip("<>"), "ascending": "yes"})

    assert words(found) == WORDS
    for one in found["items"]:
        assert one["recipient"] == TO
        assert f"<{one['message']['headers']['message-id']}>" == message
        assert (one["tags"], one["user-variables"]) == (["order"], {"order": "81"})
    failed = found["items"][4]
    assert (failed["severity"], failed["delivery-status"]["code"]) == ("permanent", 550)
    assert found["items"][3]["url"] == "https://example.com/a"


def test_the_id_of_a_request_for_several_mails_has_the_events_of_all(client: Client) -> None:
    to = ["one@example.org", "two@example.org"]
    data = HI | {"to": to, "recipient-variables": json.dumps({one: {} for one in to})}
    sent = str(client.messages.create(data=data, domain=DOMAIN).json()["id"])

    found = ask(client, **{"message-id": sent})["items"]

    assert sorted((one["event"], one["recipient"]) for one in found) == [
        ("accepted", "one@example.org"),
        ("accepted", "two@example.org"),
    ]
    assert {f"<{one['message']['headers']['message-id']}>" for one in found} == {sent}


def test_the_events_of_a_recipient_are_listed_newest_first(client: Client, message: str) -> None:
    assert words(ask(client, recipient=TO)) == WORDS[::-1]
    assert words(ask(client, recipient="unknown@example.org")) == []


def test_the_events_of_a_mail_that_is_no_longer_stored_are_listed(
    site: Served, client: Client
) -> None:
    gone = happened(site, client, "gone@example.org")
    site.rows(
        "DELETE FROM mailqueue.email_queue WHERE recipient_email = 'gone@example.org' RETURNING 1"
    )

    found = ask(client, **{"message-id": gone, "ascending": "yes"})["items"]

    assert [one["event"] for one in found] == WORDS[1:]
    assert {one["recipient"] for one in found} == {"gone@example.org"}


def test_events_are_filtered_by_their_names_and_times(client: Client, message: str) -> None:
    assert words(ask(client, recipient=TO, event="rejected OR failed")) == ["failed"]
    assert words(ask(client, recipient=TO, event="opened OR clicked")) == ["clicked", "opened"]
    assert words(ask(client, recipient=TO, begin="Tue, 24 Nov 2020 09:00:00 -0000")) == WORDS
    assert words(ask(client, recipient=TO, end=1600000000, begin=1500000000)) == []


@pytest.mark.parametrize("order", ["yes", "no"])
def test_the_urls_of_pages_lead_through_the_events_and_back(
    site: Served, client: Client, message: str, order: str
) -> None:
    expected = WORDS if order == "yes" else WORDS[::-1]

    def followed(page: Any, name: str) -> Any:
        url = page["paging"][name]
        assert urlsplit(url).netloc == site.host
        return requests.get(url, auth=("api", site.keys.live), timeout=60).json()

    page = ask(client, recipient=TO, ascending=order, limit=4)
    second = followed(page, "next")
    after = followed(second, "next")
    assert [words(one) for one in (page, second, after)] == [expected[:4], expected[4:], []]
    assert words(followed(second, "previous")) == words(followed(second, "first")) == expected[:4]
    assert words(followed(page, "last")) == expected[2:]


def test_a_page_that_was_empty_has_the_events_that_came_later(site: Served, client: Client) -> None:
    happened(site, client, "later@example.org")
    filters = {"recipient": "later@example.org", "ascending": "yes", "event": "delivered"}
    page = ask(client, **filters)
    empty = requests.get(page["paging"]["next"], auth=("api", site.keys.live), timeout=60).json()
    assert empty["items"] == []

    site.rows(
        "UPDATE mailqueue.email_events SET type = 'delivered', occurred_at = now() +"
        " interval '1 hour' WHERE recipient_email = 'later@example.org' AND type = 'opened'"
        " RETURNING 1"
    )
    more = requests.get(empty["paging"]["next"], auth=("api", site.keys.live), timeout=60).json()
    assert words(more) == ["delivered"]


def test_a_key_sees_the_events_of_its_project_and_mode_alone(site: Served, message: str) -> None:
    for key in (site.keys.other, site.keys.test):
        with Client(auth=("api", key), api_url=site.url) as other:
            assert ask(other, **{"message-id": message})["items"] == []
            assert ask(other, recipient=TO)["items"] == []


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({}, "'message-id'"),
        ({"recipient": TO, "event": "lost"}, "'event'"),
        ({"recipient": TO, "limit": 301}, "'limit'"),
        ({"recipient": TO, "begin": "soon"}, "'begin'"),
        ({"recipient": TO, "severity": "permanent"}, "'severity'"),
        ({"recipient": "nobody"}, "'recipient'"),
    ],
)
def test_what_is_invalid_is_refused_by_name(client: Client, filters: Any, named: str) -> None:
    answer = client.events.get(domain=DOMAIN, filters=filters)

    assert answer.status_code == 400
    assert named in answer.json()["message"]


def test_another_page_is_refused_by_name(site: Served) -> None:
    answer = requests.get(
        f"{site.url}/v3/{DOMAIN}/events/WyJuZXh0Il0?recipient={TO}",
        auth=("api", site.keys.live),
        timeout=60,
    )

    assert (answer.status_code, "'page'" in answer.json()["message"]) == (400, True)
