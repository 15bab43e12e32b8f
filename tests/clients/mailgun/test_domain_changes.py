"""The published `mailgun` library adds, verifies and removes domains, and reads their tracking."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from mailgun.client import Client

from mailqueue.domains import keys
from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.serving import Served

NEW = "shop.example.com"


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    allow(site, None)
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        for one in made.domainlist.get().json()["items"]:
            assert made.domains.delete(domain=one["name"]).status_code == 200
        yield made


def allow(site: Served, patterns: list[str] | None) -> None:
    query = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING 1"
    site.rows(query, patterns)


def names(client: Client) -> list[str]:
    return [one["name"] for one in client.domainlist.get().json()["items"]]


def asked(
    site: Served, method: str, path: str, *, key: str | None = None, **data: Any
) -> requests.Response:
    return requests.request(
        method,
        f"{site.url}{path}",
        data=data,
        auth=("api", key or site.keys.live),
        timeout=60,
    )


def test_an_added_domain_has_a_record_to_publish_and_is_listed(client: Client) -> None:
    made = client.domains.create(data={"name": "Shop.Example.COM"})
    (record,) = made.json()["sending_dns_records"]

    assert (made.status_code, made.json()["domain"]["name"]) == (200, NEW)
    assert record["name"].endswith(f"._domainkey.{NEW}")
    assert (record["record_type"], record["valid"]) == ("TXT", "unknown")
    assert names(client) == [NEW]
    assert client.domains.get(domain_name=NEW).json()["sending_dns_records"] == [record]


def test_a_record_that_is_not_in_dns_stays_unknown(site: Served, client: Client) -> None:
    client.domains.create(data={"name": NEW})
    for answer in (
        client.domains_verify.put(domain=NEW, verify=True),
        asked(site, "PUT", f"/v4/domains/{NEW}/verify"),
    ):
        assert answer.status_code == 200, answer.text
        (record,) = answer.json()["sending_dns_records"]
        assert (record["valid"], record["is_active"]) == ("unknown", False)


def test_a_removed_domain_has_no_keys(site: Served, client: Client) -> None:
    client.domains.create(data={"name": NEW})

    assert client.domains.delete(domain=NEW).json() == {"message": "Domain has been deleted"}
    assert names(client) == []
    status = "SELECT status::text FROM mailqueue.dkim_keys WHERE domain = %s"
    assert set(site.rows(status, NEW)) == {("revoked",)}
    again = client.domains.delete(domain=NEW)
    assert (again.status_code, again.json()) == (404, {"message": f"Domain not found: {NEW}"})


def test_the_keys_of_a_domain_are_listed_by_selector(site: Served, client: Client) -> None:
    client.domains.create(data={"name": NEW})
    (item,) = asked(site, "GET", f"/v4/domains/{NEW}/keys").json()["items"]

    assert item["signing_domain"] == NEW
    assert item["dns_record"]["name"] == f"{item['selector']}._domainkey.{NEW}"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({}, "name parameter is missing"),
        ({"name": "not a domain"}, "'name' parameter"),
        ({"name": "a" * 300}, "'name' parameter"),
        ({"name": "nul\0.example.com"}, "'name' parameter"),
        ({"name": NEW, "smtp_password": "secret-word"}, "'smtp_password' parameter"),
        ({"name": NEW, "dkim_key_size": "1024"}, "'dkim_key_size' parameter: must be 2048"),
        ({"name": NEW, "spam_action": "tag"}, "'spam_action' parameter"),
        ({"name": [NEW, "b.example.com"]}, "'name' parameter"),
    ],
)
def test_what_cannot_be_added_is_refused_by_name(client: Client, data: Any, why: str) -> None:
    answer = client.domains.create(data=data)

    assert (answer.status_code, why in answer.json()["message"]) == (400, True), answer.text
    assert "secret-word" not in answer.text
    assert names(client) == []


def test_keys_are_listed_while_one_is_removed(
    site: Served, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.domains.create(data={"name": NEW})
    found, list_keys = [NEW], keys.list_keys

    async def removed_once_read(conn: Any, **options: Any) -> Any:
        listed = await list_keys(conn, **options)
        return listed if found and found.pop() else []

    monkeypatch.setattr(keys, "list_keys", removed_once_read)
    answer = asked(site, "GET", f"/v4/domains/{NEW}/keys")
    assert (answer.status_code, len(answer.json()["items"])) == (200, 1)


def test_a_key_does_not_allow_a_domain_that_the_project_may_not_send_from(
    site: Served, client: Client
) -> None:
    allow(site, ["example.org"])
    refused = client.domains.create(data={"name": NEW})
    allowed = client.domains.create(data={"name": "example.org"})
    allow(site, None)

    assert (refused.status_code, "administrator" in refused.text) == (400, True)
    assert allowed.status_code == 200


def test_several_at_once_add_a_domain(site: Served, client: Client) -> None:
    with ThreadPoolExecutor(3) as pool:
        answers = list(
            pool.map(lambda _: asked(site, "POST", "/v4/domains", name=NEW).status_code, range(3))
        )

    assert 200 in answers
    assert set(answers) <= {200, 400}
    assert names(client) == [NEW]


def test_domains_of_another_project_are_not_shown_or_removed(site: Served, client: Client) -> None:
    client.domains.create(data={"name": NEW})
    with Client(auth=("api", site.keys.other), api_url=site.url) as other:
        assert names(other) == []
        assert other.domains.delete(domain=NEW).status_code == 404
        assert asked(site, "GET", f"/v4/domains/{NEW}/keys", key=site.keys.other).json() == {
            "items": []
        }
    assert names(client) == [NEW]


def test_a_key_without_the_permission_changes_no_domain(site: Served, client: Client) -> None:
    key = key_with(site, Scope.PROJECT_READ)

    assert asked(site, "POST", "/v3/domains", key=key, name=NEW).status_code == 403
    assert asked(site, "PUT", f"/v3/domains/{NEW}/verify", key=key).status_code == 403
    assert asked(site, "DELETE", f"/v3/domains/{NEW}", key=key).status_code == 403
    assert asked(site, "GET", f"/v3/domains/{NEW}/tracking", key=key).status_code == 200


def test_tracking_is_that_of_the_project(site: Served, client: Client) -> None:
    track(site, opens=True, clicks=False)
    shown = client.domains_tracking.get(domain=NEW).json()["tracking"]
    same = client.domains_tracking_open.put(domain=NEW, data={"active": "yes"})

    assert shown["open"]["active"] is True
    assert (shown["click"]["active"], shown["unsubscribe"]["active"]) == (False, False)
    assert (same.status_code, same.json()["open"]["active"]) == (200, True)


def track(site: Served, *, opens: bool, clicks: bool) -> None:
    query = "UPDATE mailqueue.projects SET track_opens = %s, track_clicks = %s"
    site.rows(f"{query} WHERE name = 'default' RETURNING 1", opens, clicks)


def test_tracking_is_changed_by_administrators_only(site: Served, client: Client) -> None:
    track(site, opens=True, clicks=False)
    refused = [
        client.domains_tracking_open.put(domain=NEW, data={"active": "no"}),
        client.domains_tracking_click.put(domain=NEW, data={"active": "htmlonly"}),
    ]
    invalid = [
        client.domains_tracking_open.put(domain=NEW, data={"active": "maybe"}),
        client.domains_tracking_open.put(domain=NEW, data={"place_at_the_top": "yes"}),
        client.domains_tracking_unsubscribe.put(domain=NEW, data={"active": "yes"}),
        client.domains_tracking_click.put(domain=NEW, data={"other": "x"}),
    ]

    assert {one.status_code for one in refused} == {403}
    assert {one.status_code for one in invalid} == {400}
    settings = "SELECT track_opens, track_clicks FROM mailqueue.projects WHERE name = 'default'"
    assert site.rows(settings) == [(True, False)]
