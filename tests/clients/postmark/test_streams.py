"""Postmark's documented requests, by its published Python library, manage message streams."""

from typing import Any

import pytest
import requests
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.postmark.mails import HELLO
from tests.clients.serving import Served

PATH = "/message-streams"
STANDARD = ["outbound", "broadcast"]


@pytest.fixture(autouse=True)
def without_streams(site: Served) -> None:
    site.rows("DELETE FROM mailqueue.subscription_categories RETURNING 1")


def added(postmark: PostmarkClient, **fields: Any) -> Any:
    given = {"ID": "offers", "Name": "Offers", "MessageStreamType": "Broadcasts", **fields}
    return postmark.call("POST", PATH, data=given)


def listed(postmark: PostmarkClient, **query: Any) -> list[str]:
    found = postmark.call("GET", PATH, **query)
    assert found["TotalCount"] == len(found["MessageStreams"])
    return [one["ID"] for one in found["MessageStreams"]]


def categories(site: Served) -> list[tuple[Any, ...]]:
    return site.rows(
        "SELECT slug, name, description, is_required FROM mailqueue.subscription_categories"
        " WHERE removed_at IS NULL ORDER BY slug"
    )


def test_the_standard_streams_are_there(postmark: PostmarkClient) -> None:
    found = postmark.call("GET", PATH)["MessageStreams"]

    assert [(one["ID"], one["MessageStreamType"]) for one in found] == [
        ("outbound", "Transactional"),
        ("broadcast", "Broadcasts"),
    ]
    assert [one["SubscriptionManagementConfiguration"] for one in found] == [
        {"UnsubscribeHandlingType": "None"},
        {"UnsubscribeHandlingType": "Postmark"},
    ]
    assert found[0]["CreatedAt"]
    assert (found[0]["ArchivedAt"], found[0]["UpdatedAt"]) == (None, None)


def test_a_stream_is_added_as_a_category(site: Served, postmark: PostmarkClient) -> None:
    made = added(postmark, Description="What is cheaper")
    needed = added(postmark, ID="receipts", Name="Receipts", MessageStreamType="Transactional")

    assert (made["ID"], made["Name"], made["Description"]) == (
        "offers",
        "Offers",
        "What is cheaper",
    )
    assert postmark.call("GET", f"{PATH}/offers") == made
    assert needed["SubscriptionManagementConfiguration"] == {"UnsubscribeHandlingType": "None"}
    assert categories(site) == [
        ("offers", "Offers", "What is cheaper", False),
        ("receipts", "Receipts", None, True),
    ]


def test_mail_of_a_stream_has_its_category(site: Served, postmark: PostmarkClient) -> None:
    made = added(postmark)
    sent = postmark.emails.send(**HELLO, MessageStream=made["ID"])

    assert site.email(sent["MessageID"])["category"] == "offers"


def test_streams_are_listed_by_type(postmark: PostmarkClient) -> None:
    added(postmark)
    added(postmark, ID="receipts", Name="Receipts", MessageStreamType="Transactional")

    assert listed(postmark) == [*STANDARD, "offers", "receipts"]
    assert listed(postmark, MessageStreamType="Broadcasts") == ["broadcast", "offers"]
    assert listed(postmark, MessageStreamType="Transactional") == ["outbound", "receipts"]
    assert listed(postmark, MessageStreamType="Inbound") == []
    assert listed(postmark, IncludeArchivedStreams="true") == listed(postmark)


def test_a_stream_is_changed_in_what_is_given_alone(site: Served, postmark: PostmarkClient) -> None:
    added(postmark, Description="What is cheaper")
    renamed = postmark.call("PATCH", f"{PATH}/offers", data={"Name": "Bargains"})
    described = postmark.call("PATCH", f"{PATH}/offers", data={"Description": "Cheap"})

    assert (renamed["Name"], renamed["Description"]) == ("Bargains", "What is cheaper")
    assert (described["Name"], described["Description"]) == ("Bargains", "Cheap")
    assert described["UpdatedAt"]
    assert categories(site) == [("offers", "Bargains", "Cheap", False)]


def test_a_standard_stream_is_named_by_its_category(site: Served, postmark: PostmarkClient) -> None:
    with pytest.raises(ClientError, match="'broadcast'") as caught:
        postmark.call("PATCH", f"{PATH}/broadcast", data={"Name": "News"})
    assert int(caught.value.error_code) == 405
    site.rows(
        "INSERT INTO mailqueue.subscription_categories (project_id, slug, name, created_by)"
        " SELECT id, 'marketing', 'News', 'test' FROM mailqueue.projects WHERE name = 'default'"
        " RETURNING 1"
    )

    assert listed(postmark) == STANDARD
    assert postmark.call("GET", f"{PATH}/broadcast")["Name"] == "News"
    changed = postmark.call("PATCH", f"{PATH}/broadcast", data={"Name": "Our news"})
    assert (changed["ID"], changed["Name"]) == ("broadcast", "Our news")


@pytest.mark.parametrize(
    ("given", "code", "named"),
    [
        ({"ID": "outbound"}, 1230, "'ID'"),
        ({"ID": "marketing"}, 1237, "'ID'"),
        ({"ID": "pm-own"}, 1233, "'ID'"),
        ({"ID": ""}, 1227, "'ID'"),
        ({"ID": "Offers"}, 1227, "'ID'"),
        ({"ID": "o" * 31}, 1227, "'ID'"),
        ({"Name": " "}, 1223, "'Name'"),
        ({"Name": "n" * 101}, 1224, "'Name'"),
        ({"Description": "d" * 301}, 1231, "'Description'"),
        ({"Description": "<b>"}, 1234, "'Description'"),
        ({"MessageStreamType": "Inbound"}, 1221, "'MessageStreamType'"),
        ({"MessageStreamType": "Transactional", "Color": "blue"}, 403, "'Color'"),
        (
            {"SubscriptionManagementConfiguration": {"UnsubscribeHandlingType": "Custom"}},
            1239,
            "'UnsubscribeHandlingType'",
        ),
    ],
)
def test_what_is_invalid_is_named_and_adds_nothing(
    site: Served, postmark: PostmarkClient, given: Any, code: int, named: str
) -> None:
    with pytest.raises(ClientError, match=named) as caught:
        added(postmark, **given)

    assert int(caught.value.error_code) == code
    assert categories(site) == []


def test_a_stream_is_added_once(site: Served, postmark: PostmarkClient) -> None:
    added(postmark)
    with pytest.raises(ClientError) as caught:
        added(postmark, Name="Other")

    assert int(caught.value.error_code) == 1230
    assert categories(site) == [("offers", "Offers", None, False)]


def test_a_hundred_streams_are_the_most(site: Served, postmark: PostmarkClient) -> None:
    site.rows(
        "INSERT INTO mailqueue.subscription_categories (project_id, slug, name, created_by)"
        " SELECT p.id, 'c' || n, 'c', 'test' FROM mailqueue.projects AS p,"
        " generate_series(1, 100) AS n WHERE p.name = 'default' RETURNING 1"
    )
    with pytest.raises(ClientError) as caught:
        added(postmark)

    assert int(caught.value.error_code) == 1225


def test_a_stream_of_another_project_is_not_found(site: Served, postmark: PostmarkClient) -> None:
    made = added(postmark)
    for method in ("GET", "PATCH"):
        answer = requests.request(
            method,
            f"{site.url}{PATH}/{made['ID']}",
            json={"Name": "Stolen"} if method == "PATCH" else None,
            headers={"X-Postmark-Server-Token": site.keys.other},
            timeout=60,
        )
        assert (answer.status_code, answer.json()["ErrorCode"]) == (422, 1226)
    assert postmark.call("GET", f"{PATH}/offers") == made


def test_a_key_needs_the_scope_and_a_test_key_adds_nothing(
    site: Served, postmark: PostmarkClient
) -> None:
    for key in (key_with(site, Scope.EMAIL_SEND), site.keys.test):
        answer = requests.post(
            f"{site.url}{PATH}",
            json={"ID": "offers", "Name": "Offers", "MessageStreamType": "Broadcasts"},
            headers={"X-Postmark-Server-Token": key},
            timeout=60,
        )
        assert (answer.status_code, answer.json()["ErrorCode"]) == (422, 405)
    assert listed(postmark) == STANDARD


def test_streams_are_not_archived(postmark: PostmarkClient) -> None:
    added(postmark)
    with pytest.raises(ClientError, match=r"POST /message-streams/offers/archive is not supported"):
        postmark.call("POST", f"{PATH}/offers/archive")
    assert listed(postmark) == [*STANDARD, "offers"]
