"""The published `mailgun` library manages API keys."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
import requests
from mailgun.client import Client

from mailqueue.projects.model import Scope
from tests.clients.serving import Served


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made
    site.rows("DELETE FROM mailqueue.api_keys WHERE name LIKE 'own %%' RETURNING 1")


def asked(
    site: Served, method: str, path: str, *, key: str | None = None, **more: Any
) -> requests.Response:
    auth = ("api", key or site.keys.live)
    return requests.request(method, f"{site.url}{path}", auth=auth, timeout=60, **more)


def made_key(client: Client, **fields: str) -> dict[str, Any]:
    given = {"role": "sending", "description": "own key", **fields}
    answer = client.keys.create(data=given)
    assert answer.status_code == 200, answer.text
    key: dict[str, Any] = answer.json()["key"]
    return key


def test_a_key_is_created_listed_used_and_revoked(site: Served, client: Client) -> None:
    key = made_key(client, user_name="Ann", email="ann@example.com", user_id="7")
    items = {one["id"]: one for one in client.keys.get().json()["items"]}
    listed = items[key["id"]]
    may = asked(site, "GET", "/v3/domains", key=key["secret"])
    may_not = asked(site, "GET", "/v1/keys", key=key["secret"])
    gone = client.keys.delete(key_id=key["id"])

    assert {name: key[name] for name in listed} == listed
    assert "secret" not in listed
    assert (key["kind"], key["role"], key["expires_at"]) == ("user", "sending", None)
    assert (may.status_code, may_not.status_code) == (200, 403)
    assert gone.status_code == 200
    assert asked(site, "GET", "/v3/domains", key=key["secret"]).status_code == 401
    assert client.keys.delete(key_id=key["id"]).status_code == 404
    assert key["id"] not in {one["id"] for one in client.keys.get().json()["items"]}


def test_a_key_of_kind_web_ends_within_a_day(client: Client) -> None:
    key = made_key(client, kind="web", expiration="3600", role="basic")
    life = datetime.fromisoformat(key["expires_at"]) - datetime.fromisoformat(key["created_at"])
    found = client.keys.get(filters={"kind": "web"}).json()

    assert timedelta(minutes=59) < life < timedelta(minutes=61)
    assert ([one["id"] for one in found["items"]], found["total_count"]) == ([key["id"]], 1)
    assert found["items"][0]["role"] == "basic"
    assert client.keys.get(filters={"kind": "domain"}).json()["items"] == []


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"role": ""}, "role"),
        ({"role": "owner"}, "role"),
        ({"kind": "domain"}, "kind"),
        ({"kind": "x"}, "kind"),
        ({"expiration": "0"}, "expiration"),
        ({"expiration": "-1"}, "expiration"),
        ({"expiration": "9" * 40}, "expiration"),
        ({"kind": "web", "expiration": "86401"}, "expiration"),
        ({"description": "x" * 500}, "description"),
        ({"more": "1"}, "more"),
    ],
)
def test_a_field_that_is_invalid_is_named(
    site: Served, client: Client, fields: dict[str, str], named: str
) -> None:
    before = client.keys.get().json()["total_count"]
    answer = client.keys.create(data={"role": "admin", "description": "own key", **fields})

    assert (answer.status_code, named in answer.json()["message"]) == (400, True), answer.text
    assert client.keys.get().json()["total_count"] == before
    for query in ({"kind": "x"}, {"more": "1"}, {"kind": "\0"}):
        assert asked(site, "GET", "/v1/keys", params=query).status_code == 400


def test_a_key_creates_none_that_may_more_and_sees_its_project_alone(
    site: Served, client: Client
) -> None:
    key = made_key(client)
    narrow = site.key_with(Scope.PROJECT_READ, Scope.PROJECT_WRITE)
    more = asked(site, "POST", "/v1/keys", key=narrow, data={"role": "admin"})
    other = asked(site, "DELETE", f"/v1/keys/{key['id']}", key=site.keys.other)
    test = asked(site, "DELETE", f"/v1/keys/{key['id']}", key=site.keys.test)
    seen = asked(site, "GET", "/v1/keys", key=site.keys.other).json()["items"]

    assert (more.status_code, other.status_code, test.status_code) == (403, 404, 404)
    assert key["id"] not in {one["id"] for one in seen}


def test_a_key_of_a_domain_is_created_only_where_the_project_sends_from_no_other(
    site: Served, client: Client
) -> None:
    query = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING 1"
    given = {"role": "sending", "description": "own key", "domain_name": "example.com"}
    refused = []
    for patterns in (None, ["example.com", "example.org"], ["*.example.com", "example.com"]):
        site.rows(query, patterns)
        refused.append(client.keys.create(data=given))
        assert client.keys.get(filters={"domain_name": "example.com"}).json()["items"] == []
    site.rows(query, ["shop@example.com", "Example.com"])
    made = client.keys.create(data=given)
    listed = client.keys.get(filters={"domain_name": "example.com"}).json()["items"]
    elsewhere = client.keys.create(data=given | {"domain_name": "example.org"})
    site.rows(query, None)

    assert {one.status_code for one in refused} == {400}
    assert all("'domain_name' parameter" in one.json()["message"] for one in refused)
    assert made.status_code == 200, made.text
    assert made.json()["key"]["id"] in {one["id"] for one in listed}
    assert elsewhere.status_code == 404
