"""The published `sendgrid` library creates, shows, renames and revokes API keys."""

import json
from typing import Any
from uuid import uuid4

import pytest
from python_http_client.exceptions import (
    BadRequestsError,
    ForbiddenError,
    HTTPError,
    NotFoundError,
    UnauthorizedError,
)
from sendgrid import SendGridAPIClient

from mailqueue.api.compat.sendgrid.scopes import BESIDE, NEEDED, names_of, scopes_of
from mailqueue.projects.model import EVERY_SCOPE, Scope
from tests.clients.sendgrid.mails import hello
from tests.clients.serving import Served


@pytest.fixture
def client(site: Served) -> Any:
    return SendGridAPIClient(site.keys.live, host=site.url).client


def read(response: Any) -> Any:
    return json.loads(response.body)


def added(client: Any, *scopes: str, name: str | None = None) -> Any:
    body: dict[str, Any] = {"name": name or f"Shop {uuid4()}"}
    if scopes:
        body["scopes"] = list(scopes)
    return read(client.api_keys.post(request_body=body))


def errors(kind: type[HTTPError], call: Any, **given: Any) -> Any:
    with pytest.raises(kind) as caught:
        call(**given)
    assert type(caught.value) is kind
    return caught.value.to_dict["errors"]


def scopes_in(site: Served, key_id: str) -> set[str]:
    ((found,),) = site.rows("SELECT scopes FROM mailqueue.api_keys WHERE id = %s", key_id)
    return set(found)


def test_a_key_that_may_send_sends_and_creates_no_keys(site: Served, client: Any) -> None:
    made = added(client, "mail.send")
    sender = SendGridAPIClient(made["api_key"], host=site.url)

    assert scopes_in(site, made["api_key_id"]) == {"email:send"}
    assert sender.send(hello()).status_code == 202
    assert read(sender.client.scopes.get())["scopes"] == made["scopes"] == names_of(["email:send"])
    for call in (sender.client.api_keys.get, sender.client.templates.get):
        assert "lacks scope" in errors(ForbiddenError, call)[0]["message"]
    (refused,) = errors(ForbiddenError, sender.client.api_keys.post, request_body={"name": "More"})
    assert "project:write" in refused["message"]


def test_without_scopes_a_key_has_all_that_only_such_a_key_can_give(
    site: Served, client: Any
) -> None:
    made = added(client)
    some = site.key_with(Scope.PROJECT_READ, Scope.PROJECT_WRITE, Scope.EMAIL_SEND)
    lesser = SendGridAPIClient(some, host=site.url).client

    assert scopes_in(site, made["api_key_id"]) == EVERY_SCOPE
    (refused,) = errors(ForbiddenError, lesser.api_keys.post, request_body={"name": "More"})
    assert "lacks scope" in refused["message"]
    assert scopes_in(site, added(lesser, "mail.send")["api_key_id"]) == {"email:send"}


def test_a_test_key_creates_test_keys_and_finds_no_live_one(site: Served, client: Any) -> None:
    live = added(client)
    tries = SendGridAPIClient(site.keys.test, host=site.url).client
    made = added(tries)
    query = "SELECT is_test FROM mailqueue.api_keys WHERE id = %s"

    assert site.rows(query, made["api_key_id"]) == [(True,)]
    for call in (
        tries.api_keys._(live["api_key_id"]).get,
        tries.api_keys._(live["api_key_id"]).delete,
    ):
        errors(NotFoundError, call)
    shown = read(tries.api_keys.get())["result"]
    assert live["api_key_id"] not in {one["api_key_id"] for one in shown}


def test_a_key_is_shown_renamed_listed_and_revoked(site: Served, client: Any) -> None:
    made = added(client, "mail.send", "messages.read")
    one = client.api_keys._(made["api_key_id"])
    named = {"api_key_id": made["api_key_id"], "name": made["name"]}
    whole = {**named, "scopes": made["scopes"]}

    assert read(one.get()) == {"result": [whole]}
    assert named in read(client.api_keys.get())["result"]
    assert read(client.api_keys.get(query_params={"limit": 1}))["result"] == [named]
    renamed = read(one.patch(request_body={"name": f"A {made['name']}"}))
    assert renamed == {**named, "name": f"A {made['name']}"}
    again = read(one.put(request_body={"name": made["name"], "scopes": made["scopes"]}))
    assert again == whole
    assert one.delete().status_code == 204
    for gone in (one.get, one.delete):
        errors(NotFoundError, gone)
    assert named not in read(client.api_keys.get())["result"]
    errors(UnauthorizedError, SendGridAPIClient(made["api_key"], host=site.url).client.scopes.get)


@pytest.mark.parametrize("scopes", [EVERY_SCOPE, {Scope.CONTACTS_READ}])
def test_what_is_shown_of_a_key_can_be_sent_back(
    site: Served, client: Any, scopes: set[Scope]
) -> None:
    site.key_with(*scopes)
    newest = read(client.api_keys.get())["result"][0]
    one = client.api_keys._(newest["api_key_id"])
    shown = read(one.get())["result"][0]

    assert read(one.put(request_body={"name": "Again", "scopes": shown["scopes"]})) == {
        **shown,
        "name": "Again",
    }
    assert scopes_in(site, newest["api_key_id"]) == scopes
    one.delete()


def test_the_scopes_of_a_key_never_change(site: Served, client: Any) -> None:
    made = added(client, "mail.send")
    body = {"name": "Wider", "scopes": ["mail.send", "messages.read"]}
    (refused,) = errors(
        BadRequestsError, client.api_keys._(made["api_key_id"]).put, request_body=body
    )

    assert (refused["field"], "never change" in refused["message"]) == ("scopes", True)
    assert scopes_in(site, made["api_key_id"]) == {"email:send"}
    assert read(client.api_keys._(made["api_key_id"]).get())["result"][0]["name"] == made["name"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "Shop", "scopes": []}, "scopes"),
        ({"name": "Shop", "scopes": ["mail.read"]}, "scopes"),
        ({"name": "Shop", "scopes": ["templates.update"]}, "scopes"),
        ({"name": "Shop", "scopes": ["suppression.bounces.read"]}, "scopes"),
        ({"name": "Shop", "scopes": "mail.send"}, "scopes"),
        ({"name": "Shop", "is_admin": True}, "is_admin"),
    ],
)
def test_what_is_invalid_is_named_and_creates_nothing(client: Any, body: Any, field: str) -> None:
    before = read(client.api_keys.get())
    (refused,) = errors(BadRequestsError, client.api_keys.post, request_body=body)

    assert refused["field"] == field
    assert read(client.api_keys.get()) == before


def test_a_key_of_another_project_is_not_found(site: Served, client: Any) -> None:
    made = added(client)
    foreign = SendGridAPIClient(site.keys.other, host=site.url).client
    one = foreign.api_keys._(made["api_key_id"])

    for call, given in (
        (one.get, {}),
        (one.delete, {}),
        (one.patch, {"request_body": {"name": "Mine"}}),
        (one.put, {"request_body": {"name": "Mine"}}),
    ):
        errors(NotFoundError, call, **given)
    assert read(client.api_keys._(made["api_key_id"]).get())["result"][0]["name"] == made["name"]


def test_each_scope_is_asked_for_by_the_names_that_it_shows() -> None:
    for scope in NEEDED:
        assert scopes_of(names_of([scope])) == scopes_of(NEEDED[scope]) == {scope}
    shown = [name for scope in NEEDED for name in (*NEEDED[scope], *BESIDE.get(scope, ()))]
    assert len(shown) == len(set(shown))
