"""Postmark's documented requests, by its published Python library, manage webhooks."""

from typing import Any

import pytest
import requests
import resend
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from tests.clients.serving import Served

URL = "https://app.example.com/hooks"
ON = {"Enabled": True}
AUTH = {"Username": "hooks", "Password": "s3cret"}


@pytest.fixture(autouse=True)
def without_webhooks(postmark: PostmarkClient) -> None:
    for one in listed(postmark):
        postmark.call("DELETE", f"/webhooks/{one['ID']}")


def listed(postmark: PostmarkClient, **query: Any) -> list[Any]:
    found: list[Any] = postmark.call("GET", "/webhooks", **query)["Webhooks"]
    return found


def added(postmark: PostmarkClient, triggers: Any = None, **fields: Any) -> Any:
    given = {"Url": URL, "Triggers": triggers or {"Bounce": ON}, **fields}
    return postmark.call("POST", "/webhooks", data=given)


def enabled(document: Any) -> list[str]:
    return [name for name, one in document["Triggers"].items() if one["Enabled"]]


def stored(site: Served) -> list[tuple[Any, ...]]:
    return site.rows(
        "SELECT w.url, w.format, w.event_types FROM mailqueue.webhooks AS w"
        " JOIN mailqueue.projects AS p ON p.id = w.project_id WHERE p.name = 'default'"
        " AND w.removed_at IS NULL"
    )


def test_a_webhook_is_added_for_the_events_of_its_triggers(
    site: Served, postmark: PostmarkClient
) -> None:
    made = added(
        postmark,
        {"Delivery": ON, "Bounce": {"Enabled": True, "IncludeContent": False}, "Open": {}},
        HttpAuth=AUTH,
        MessageStream="outbound",
    )
    shown = postmark.call("GET", f"/webhooks/{made['ID']}")

    assert (made["Url"], made["MessageStream"], made["HttpAuth"]) == (URL, "outbound", AUTH)
    assert enabled(made) == ["Delivery", "Bounce"]
    assert shown == {**made, "HttpAuth": None}  # a password is shown once
    assert listed(postmark) == listed(postmark, MessageStream="outbound") == [shown]
    types = ["email.deferred", "email.delivered", "email.hard_bounce", "email.soft_bounce"]
    assert stored(site) == [(URL, "postmark", types)]


def test_a_webhook_without_a_login_gets_one_which_is_shown(postmark: PostmarkClient) -> None:
    made = added(postmark)

    assert made["HttpAuth"]["Username"] == "mailqueue"
    assert len(made["HttpAuth"]["Password"]) >= 32


def test_a_webhook_is_changed_in_what_is_given_alone(postmark: PostmarkClient) -> None:
    made = added(postmark, {"Open": ON, "Bounce": ON})
    path, other = f"/webhooks/{made['ID']}", f"{URL}/other"
    moved = postmark.call("PUT", path, data={"Url": other})
    fewer = postmark.call("PUT", path, data={"Triggers": {"Open": {"Enabled": False}, "Click": ON}})
    locked = postmark.call("PUT", path, data={"HttpAuth": AUTH})

    assert (moved["Url"], enabled(moved)) == (other, ["Open", "Bounce"])
    assert (fewer["Url"], enabled(fewer)) == (other, ["Click", "Bounce"])
    assert (locked["HttpAuth"], enabled(locked)) == (AUTH, ["Click", "Bounce"])
    assert locked["ID"] == made["ID"]


def test_a_webhook_is_removed(postmark: PostmarkClient) -> None:
    made = added(postmark)
    gone = postmark.call("DELETE", f"/webhooks/{made['ID']}")

    assert gone == {"ErrorCode": 0, "Message": f"Webhook {made['ID']} removed."}
    assert listed(postmark) == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"Url": "ftp://example.com"}, "Url"),
        ({"Url": "https://127.0.0.2/x"}, "Url"),
        ({"Url": 7}, "Url"),
        ({"Triggers": {"Bounce": {"Enabled": False}}}, "Triggers"),
        ({"Triggers": {"Bounce": {"Enabled": True, "IncludeContent": True}}}, "IncludeContent"),
        ({"Triggers": {"Open": {"Enabled": True, "PostFirstOpenOnly": True}}}, "PostFirstOpenOnly"),
        ({"Triggers": {"Bounced": ON}}, "Triggers.Bounced"),
        ({"HttpHeaders": [{"Name": "X-Own", "Value": "1"}]}, "HttpHeaders"),
        ({"HttpAuth": {"Username": "a:b", "Password": ""}}, "HttpAuth"),
        ({"MessageStream": "broadcast"}, "MessageStream"),
        ({"MessageStream": "No Such"}, "MessageStream"),
    ],
)
def test_what_is_invalid_is_named_and_adds_nothing(
    site: Served, postmark: PostmarkClient, given: Any, named: str
) -> None:
    with pytest.raises(ClientError, match=named):
        added(postmark, **{"Triggers": {"Bounce": ON}, **given})
    assert stored(site) == []


def test_a_change_that_is_refused_changes_nothing(postmark: PostmarkClient) -> None:
    made = added(postmark)
    with pytest.raises(ClientError, match="HttpAuth"):
        postmark.call(
            "PUT",
            f"/webhooks/{made['ID']}",
            data={"Url": f"{URL}/other", "HttpAuth": {"Username": "a:b", "Password": ""}},
        )
    assert listed(postmark) == [{**made, "HttpAuth": None}]


@pytest.mark.usefixtures("resend_here")
def test_the_same_path_is_resends_by_its_credential(postmark: PostmarkClient) -> None:
    mine = added(postmark)
    theirs = resend.Webhooks.create({"endpoint": URL, "events": ["email.bounced"]})
    try:
        assert [one["ID"] for one in listed(postmark)] == [mine["ID"]]
        assert [one["id"] for one in resend.Webhooks.list()["data"]] == [theirs["id"]]
        with pytest.raises(ClientError, match="webhook was not found"):
            postmark.call("GET", f"/webhooks/{theirs['id']}")
    finally:
        resend.Webhooks.remove(theirs["id"])


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_a_webhook_of_another_project_is_not_found(
    site: Served, postmark: PostmarkClient, method: str
) -> None:
    made = added(postmark)
    answer = requests.request(
        method,
        f"{site.url}/webhooks/{made['ID']}",
        json={"Url": f"{URL}/stolen"},
        headers={"X-Postmark-Server-Token": site.keys.other},
        timeout=60,
    )

    assert (answer.status_code, answer.json()["ErrorCode"]) == (404, 404)
    assert [one["Url"] for one in listed(postmark)] == [URL]
