"""The published `sendgrid` library adds, lists, changes, tests and removes event webhooks."""

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_der_public_key
from python_http_client.exceptions import BadRequestsError, NotFoundError
from sendgrid import SendGridAPIClient

from tests.clients.serving import Served

URL = "https://app.example.com/hooks"
NAMES = (
    *("processed", "delivered", "deferred", "bounce", "dropped", "spam_report", "open", "click"),
    *("unsubscribe", "group_unsubscribe", "group_resubscribe"),
)


def events_of(key: str, site: Served) -> Any:
    return SendGridAPIClient(key, host=site.url).client.user.webhooks.event


@pytest.fixture
def event(site: Served) -> Any:
    found = events_of(site.keys.live, site)
    for one in listed(found):
        found.settings._(one["id"]).delete()
    return found


def read(response: Any) -> Any:
    return json.loads(response.body)


def listed(event: Any) -> list[Any]:
    found: list[Any] = read(event.settings._("all").get())["webhooks"]
    return found


def added(event: Any, **fields: Any) -> Any:
    given = {"enabled": True, "url": URL, "bounce": True, **fields}
    return read(event.settings.post(request_body=given))


def selected(document: Any) -> list[str]:
    return [name for name in NAMES if document[name]]


def fields(caught: Any) -> list[tuple[str, str]]:
    return [(one["field"], one["message"]) for one in caught.value.to_dict["errors"]]


def test_the_settings_of_the_only_webhook_are_read_and_changed(event: Any) -> None:
    nothing = read(event.settings.get())
    made = read(event.settings.patch({"enabled": True, "url": URL, "delivered": True}))
    fewer = read(event.settings.patch({"delivered": False, "open": True}))
    off = read(event.settings.patch({"enabled": False}))

    assert (nothing["enabled"], nothing["url"], selected(nothing)) == (False, "", [])
    assert (made["enabled"], made["url"], selected(made)) == (True, URL, ["delivered"])
    assert (fewer["id"], selected(fewer)) == (made["id"], ["open"])
    assert (off["enabled"], selected(off), off["url"]) == (False, ["open"], URL)
    assert read(event.settings.get()) == off


def test_several_webhooks_are_added_listed_and_removed(event: Any) -> None:
    first = added(event, friendly_name="First")
    second = added(event, url=f"{URL}/2", enabled=False, dropped=True)

    assert listed(event) == [first, second]
    assert (first["friendly_name"], selected(first)) == ("First", ["bounce"])
    assert (second["enabled"], selected(second)) == (False, ["bounce", "dropped"])
    assert read(event.settings._(second["id"]).get()) == second
    assert event.settings._(first["id"]).delete().status_code == 204
    assert listed(event) == [second]


def test_an_answer_can_be_sent_back(event: Any) -> None:
    made = added(event, click=True)
    again = read(event.settings._(made["id"]).patch(request_body=made))

    assert again == {**made, "updated_date": again["updated_date"]}


def test_either_unsubscribe_selects_both(event: Any) -> None:
    made = added(event, group_unsubscribe=True)
    without = read(event.settings._(made["id"]).patch({"unsubscribe": False}))

    assert selected(made) == ["bounce", "unsubscribe", "group_unsubscribe"]
    assert selected(without) == ["bounce"]


def test_the_public_key_is_shown_and_signing_stays_on(event: Any) -> None:
    made = added(event)
    signed = event.settings.signed
    shown = read(signed._(made["id"]).get())

    assert load_der_public_key(base64.b64decode(shown["public_key"]))
    assert shown == {"id": made["id"], "public_key": made["public_key"]} == read(signed.get())
    assert read(signed.patch({"enabled": True})) == shown
    with pytest.raises(BadRequestsError) as caught:
        signed._(made["id"]).patch({"enabled": False})
    assert fields(caught) == [("enabled", "requests are always signed")]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": "ftp://example.com"}, "url"),
        ({"url": "https://127.0.0.2/x"}, "url"),
        ({"url": None}, "url"),
        ({"url": 7}, "url"),
        ({"bounce": False}, None),
        ({"bounce": "often"}, "bounce"),
        ({"friendly_name": "a\nb"}, "friendly_name"),
        ({"oauth_client_id": "a"}, "oauth_client_id"),
    ],
)
def test_what_is_invalid_is_named_and_adds_nothing(event: Any, given: Any, field: str) -> None:
    with pytest.raises(BadRequestsError) as caught:
        added(event, **given)
    assert [one for one, _ in fields(caught)] == [field]
    assert listed(event) == []


def test_a_test_that_does_not_arrive_says_why(event: Any) -> None:
    with pytest.raises(BadRequestsError) as caught:
        event.test.post(request_body={"url": URL})
    assert fields(caught) == [("url", "no webhook has this id and URL")]
    added(event, url="https://app.invalid/hooks")
    with pytest.raises(BadRequestsError) as caught:
        event.test.post(request_body={"url": "https://app.invalid/hooks"})
    ((field, why),) = fields(caught)
    assert (field, bool(why)) == ("url", True)


def test_a_webhook_of_another_project_is_not_found(site: Served, event: Any) -> None:
    made = added(event)
    other = events_of(site.keys.other, site)
    for ask in (
        other.settings._(made["id"]).get,
        other.settings._(made["id"]).delete,
        other.settings.signed._(made["id"]).get,
        lambda: other.settings._(made["id"]).patch({"url": f"{URL}/stolen"}),
        other.settings.signed.get,
    ):
        with pytest.raises(NotFoundError):
            ask()
    assert listed(other) == []
    assert listed(event) == [made]
