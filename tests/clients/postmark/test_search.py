"""The published library postmarker searches messages, and lists the opens and clicks of one or of
all.
"""

import json
from typing import Any
from uuid import uuid4

import pytest
import requests
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from tests.clients.serving import Served


@pytest.fixture(scope="module")
def messages(site: Served) -> list[str]:
    """Send five messages; return their ids, the newest first."""
    client = PostmarkClient(server_token=site.keys.live, root_api_url=site.url)
    sent = [
        client.emails.send(
            From="Shop <shop@example.com>" if number else "other@example.com",
            To=f"r{number}@example.org",
            Cc="copy@example.org" if number == 4 else None,
            Subject=f"Order {number}",
            TextBody="Hi",
            Tag="order" if number % 2 else "news",
            Metadata={"order": str(number)},
            MessageStream="broadcast" if number == 3 else "outbound",
        )["MessageID"]
        for number in range(5)
    ]
    return sent[::-1]


def ask(site: Served, path: str, *, key: str | None = None) -> Any:
    headers = {"X-Postmark-Server-Token": key or site.keys.live}
    return requests.get(f"{site.url}{path}", headers=headers, timeout=60)


def test_messages_are_listed_newest_first_as_they_were_sent(
    postmark: PostmarkClient, messages: list[str]
) -> None:
    found = postmark.messages.outbound.all()

    assert [one.MessageID for one in found] == messages
    newest = found[0].as_dict()
    assert newest["To"] == [{"Email": "r4@example.org", "Name": None}]
    assert newest["Cc"] == [{"Email": "copy@example.org", "Name": None}]
    assert newest["Recipients"] == ["r4@example.org", "copy@example.org"]
    assert (newest["From"], newest["Subject"]) == ("Shop <shop@example.com>", "Order 4")
    assert (newest["Tag"], newest["Metadata"]) == ("news", {"order": "4"})
    assert (newest["Status"], newest["MessageStream"]) == ("Queued", "outbound")
    assert newest["Sandboxed"] is False
    assert found[0].get().MessageID == messages[0]


def test_messages_are_filtered(postmark: PostmarkClient, messages: list[str]) -> None:
    def listed(**filters: Any) -> list[str]:
        return [one.MessageID for one in postmark.messages.outbound.all(**filters)]

    assert listed(recipient="copy@example.org") == messages[:1]
    assert listed(fromemail="other@example.com") == messages[4:]
    assert listed(tag="order") == [messages[1], messages[3]]
    assert listed(status="queued") == messages
    assert listed(status="sent") == []
    assert listed(fromdate="2001-01-01") == messages
    assert listed(todate="2001-01-01") == []


def test_a_stream_lists_its_own_messages(site: Served, messages: list[str]) -> None:
    found = ask(site, "/messages/outbound?count=9&offset=0&messagestream=broadcast").json()

    assert [one["MessageID"] for one in found["Messages"]] == [messages[1]]


def test_pages_have_each_message_once_and_the_number_of_all(
    site: Served, messages: list[str]
) -> None:
    pages = [ask(site, f"/messages/outbound?count=2&offset={at}").json() for at in (0, 2, 4, 6)]

    assert {page["TotalCount"] for page in pages} == {5}
    assert [one["MessageID"] for page in pages for one in page["Messages"]] == messages
    assert [len(page["Messages"]) for page in pages] == [2, 2, 1, 0]


def test_a_key_finds_the_messages_of_its_project_and_mode_alone(
    site: Served, messages: list[str]
) -> None:
    for key in (site.keys.other, site.keys.test):
        found = ask(site, "/messages/outbound?count=9&offset=0", key=key).json()
        opens = ask(site, f"/messages/outbound/opens/{messages[0]}?count=9&offset=0", key=key)
        assert found == {"TotalCount": 0, "Messages": []}
        assert (opens.status_code, opens.json()["ErrorCode"]) == (422, 701)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("count=501&offset=0", "'count'"),
        ("count=1&offset=0&subject=x", "'subject'"),
        ("count=1&offset=0&status=processed", "'status'"),
        ("count=1&offset=0&FromDate=soon", "'FromDate'"),
    ],
)
def test_what_is_invalid_is_refused_by_name(site: Served, query: str, named: str) -> None:
    answer = ask(site, f"/messages/outbound?{query}")

    assert (answer.status_code, answer.json()["ErrorCode"]) == (422, 300)
    assert named in answer.json()["Message"]


@pytest.fixture(scope="module")
def visited(site: Served, messages: list[str]) -> list[str]:
    """Record three opens and a click of two of the messages; return the ids of all."""

    def visit(kind: str, email_id: str, to: str, **data: str) -> None:
        shared = {"email_id": email_id, "recipient": to, "source": "ses"}
        event = {**shared, "type": kind, "event_id": uuid4().hex, "data": data}
        site.rows("SELECT result FROM mailqueue.record_events(%s::jsonb)", json.dumps([event]))

    newest, other = (messages[0], "r4@example.org"), (messages[1], "r3@example.org")
    visit("opened", *newest, user_agent="Mail/1")
    visit("opened", *newest, user_agent="Mail/2")
    visit("clicked", *newest, user_agent="Web/1", url="https://example.com/a")
    visit("opened", *other, user_agent="Mail/3")
    return messages


def test_opens_and_clicks_of_a_message_are_listed(
    site: Served, postmark: PostmarkClient, visited: list[str]
) -> None:
    messages = visited
    opens = postmark.messages.outbound.opens.get(messages[0])
    assert opens["TotalCount"] == 2
    assert {one["UserAgent"] for one in opens["Opens"]} == {"Mail/1", "Mail/2"}
    assert {(one["MessageID"], one["Recipient"], one["Tag"]) for one in opens["Opens"]} == {
        (messages[0], "r4@example.org", "news")
    }
    page = ask(site, f"/messages/outbound/opens/{messages[0]}?count=1&offset=1").json()
    assert (page["TotalCount"], len(page["Opens"])) == (2, 1)
    (click,) = ask(site, f"/messages/outbound/clicks/{messages[0]}?count=9&offset=0").json()[
        "Clicks"
    ]
    assert (click["RecordType"], click["OriginalLink"]) == ("Click", "https://example.com/a")
    assert postmark.messages.outbound.opens.get(messages[2])["Opens"] == []


def test_opens_and_clicks_of_all_messages_are_listed_filtered_and_paged(
    site: Served, postmark: PostmarkClient, visited: list[str]
) -> None:
    def listed(**filters: Any) -> list[str]:
        return [one.UserAgent for one in postmark.messages.outbound.opens.all(**filters)]

    newest = postmark.messages.outbound.opens.all()[0].as_dict()
    assert (newest["MessageID"], newest["MessageStream"]) == (visited[1], "broadcast")
    assert (newest["Tag"], newest["Recipient"]) == ("order", "r3@example.org")
    assert listed() == ["Mail/3", "Mail/2", "Mail/1"]
    assert listed(tag="news") == ["Mail/2", "Mail/1"]
    assert listed(recipient="R3@example.org") == ["Mail/3"]
    with pytest.raises((ClientError, requests.HTTPError)):
        postmark.messages.outbound.opens.all(platform="Desktop")
    path = "/messages/outbound/opens?count=1&offset=1"
    page = ask(site, path).json()
    assert (page["TotalCount"], [one["UserAgent"] for one in page["Opens"]]) == (3, ["Mail/2"])
    assert ask(site, f"{path}&messagestream=broadcast").json() == {"TotalCount": 1, "Opens": []}
    (click,) = ask(site, "/messages/outbound/clicks?count=9").json()["Clicks"]
    assert (click["MessageID"], click["OriginalLink"]) == (visited[0], "https://example.com/a")
    for key in (site.keys.other, site.keys.test):
        assert ask(site, path, key=key).json() == {"TotalCount": 0, "Opens": []}
