"""The published `sendgrid` library adds, lists, validates and removes authenticated domains, and
confirms what is tracked.
"""

import json
from typing import Any

import pytest
import requests
from python_http_client.exceptions import BadRequestsError, ForbiddenError, NotFoundError
from sendgrid import SendGridAPIClient

from mailqueue.projects.model import Scope
from tests.clients.serving import Served


@pytest.fixture
def domains(site: Served) -> Any:
    found = of(site, site.keys.live)
    for one in read(found.get()):
        found._(one["id"]).delete()
    return found


def of(site: Served, key: str) -> Any:
    return SendGridAPIClient(key, host=site.url).client.whitelabel.domains


def read(response: Any) -> Any:
    return json.loads(response.body)


def added(domains: Any, name: str = "shop.example.com", **fields: Any) -> Any:
    return read(domains.post(request_body={"domain": name, **fields}))


def activate(site: Served, domain: str) -> None:
    with_status = "UPDATE mailqueue.dkim_keys SET status = 'active', active_at = now()"
    site.rows(f"{with_status} WHERE domain = %s AND status = 'pending' RETURNING 1", domain)


def test_a_domain_is_added_with_the_record_to_publish(site: Served, domains: Any) -> None:
    made = added(domains, "Shop.Example.COM", automatic_security=False)
    record = made["dns"]["dkim"]

    assert (made["domain"], made["valid"], record["valid"]) == ("shop.example.com", False, False)
    assert (record["type"], record["data"][:7]) == ("txt", "v=DKIM1")
    assert record["host"].endswith("._domainkey.shop.example.com")
    assert read(domains._(made["id"]).get()) == made
    query = "SELECT status::text FROM mailqueue.dkim_keys WHERE domain = %s AND status <> 'revoked'"
    assert site.rows(query, "shop.example.com") == [("pending",)]


def test_the_selector_is_the_one_that_is_given(domains: Any) -> None:
    made = added(domains, custom_dkim_selector="abc")

    assert made["dns"]["dkim"]["host"] == "abc._domainkey.shop.example.com"


def test_a_domain_whose_key_signs_is_valid(site: Served, domains: Any) -> None:
    made = added(domains)
    activate(site, made["domain"])

    found = read(domains._(made["id"]).get())
    assert (found["valid"], found["dns"]["dkim"]["valid"]) == (True, True)


def test_the_id_of_a_domain_stays_when_its_key_is_replaced(site: Served, domains: Any) -> None:
    made = added(domains)
    activate(site, made["domain"])
    headers = {"X-Postmark-Account-Token": site.keys.live}
    (number,) = [
        one["ID"]
        for one in requests.get(
            f"{site.url}/domains?count=50&offset=0", headers=headers, timeout=60
        ).json()["Domains"]
        if one["Name"] == made["domain"]
    ]
    url = f"{site.url}/domains/{number}/rotatedkim"
    assert requests.post(url, headers=headers, timeout=60).status_code == 200
    revoked = "UPDATE mailqueue.dkim_keys SET status = 'revoked', private_key = NULL"
    site.rows(f"{revoked} WHERE domain = %s AND status = 'active' RETURNING 1", made["domain"])

    found = read(domains._(made["id"]).get())
    assert found["dns"]["dkim"]["host"] != made["dns"]["dkim"]["host"]
    assert [one["id"] for one in read(domains.get())] == [made["id"]]
    assert read(domains._(made["id"]).validate.post())["id"] == made["id"]


def test_a_domain_whose_record_is_not_in_dns_is_not_valid_and_told_why(domains: Any) -> None:
    made = added(domains, "no.example.com")
    found = read(domains._(made["id"]).validate.post())

    assert (found["id"], found["valid"]) == (made["id"], False)
    assert found["validation_results"]["dkim"]["valid"] is False
    assert found["validation_results"]["dkim"]["reason"]


def test_domains_are_listed_newest_first(domains: Any) -> None:
    made = [added(domains, f"d{number}.example.com") for number in range(3)]

    assert read(domains.get()) == made[::-1]
    assert read(domains.get(query_params={"limit": 1, "offset": 1})) == [made[1]]
    assert read(domains.get(query_params={"domain": "D2.example.com"})) == [made[2]]


def test_a_removed_domain_is_gone_and_can_be_added_again(site: Served, domains: Any) -> None:
    made = added(domains, "gone.example.com")
    assert domains._(made["id"]).delete().status_code == 204

    for call in (domains._(made["id"]).get, domains._(made["id"]).delete):
        with pytest.raises(NotFoundError):
            call()
    query = "SELECT DISTINCT status::text FROM mailqueue.dkim_keys WHERE domain = %s"
    assert site.rows(query, "gone.example.com") == [("revoked",)]
    assert read(domains.get()) == []
    assert added(domains, "gone.example.com")["id"] == made["id"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "domain"),
        ({"domain": "not a domain"}, "domain"),
        ({"domain": 7}, "domain"),
        ({"domain": "a.example.com", "custom_dkim_selector": "-"}, "custom_dkim_selector"),
        ({"domain": "a.example.com", "subdomain": "news"}, "subdomain"),
        ({"domain": "a.example.com", "automatic_security": True}, "automatic_security"),
        ({"domain": "a.example.com", "ips": ["192.0.2.1"]}, "ips"),
        ({"domain": "a.example.com", "spf": True}, "spf"),
    ],
)
def test_what_is_invalid_is_named_and_adds_nothing(domains: Any, given: Any, field: str) -> None:
    with pytest.raises(BadRequestsError) as caught:
        domains.post(request_body=given)
    assert caught.value.to_dict["errors"][0]["field"] == field
    assert read(domains.get()) == []


def test_a_domain_is_added_once(domains: Any) -> None:
    added(domains)
    with pytest.raises(BadRequestsError) as caught:
        added(domains)
    assert "shop.example.com has the rsa key" in caught.value.to_dict["errors"][0]["message"]


def test_a_domain_of_another_project_is_not_found(site: Served, domains: Any) -> None:
    made = added(domains)
    foreign = of(site, site.keys.other)

    one = foreign._(made["id"])
    for call in (one.get, one.delete, one.validate.post):
        with pytest.raises(NotFoundError):
            call()
    assert read(foreign.get()) == []
    assert read(domains.get()) == [made]


def test_domains_need_their_scopes(site: Served, domains: Any) -> None:
    made = added(domains)
    reads = of(site, site.key_with(Scope.PROJECT_READ))

    assert read(reads._(made["id"]).get()) == made
    for call in (reads._(made["id"]).delete, reads._(made["id"]).validate.post, reads.post):
        with pytest.raises(ForbiddenError):
            call()


def test_what_is_tracked_is_shown_confirmed_and_not_changed(site: Served) -> None:
    query = "SELECT track_opens, track_clicks FROM mailqueue.projects WHERE name = 'default'"
    settings = SendGridAPIClient(site.keys.live, host=site.url).client.tracking_settings
    ((opens, clicks),) = site.rows(query)

    listed = {one["name"]: one["enabled"] for one in read(settings.get())["result"]}
    assert listed == {"open": opens, "click": clicks}
    assert read(settings.open.get()) == {"enabled": opens}
    assert read(settings.click.get()) == {"enabled": clicks, "enable_text": False}
    confirmed = settings.click.patch(request_body={"enabled": clicks, "enable_text": False})
    assert read(confirmed) == read(settings.click.get())
    assert read(settings.open.patch(request_body={"enabled": opens})) == {"enabled": opens}
    for one, asked in (
        (settings.open, {"enabled": not opens}),
        (settings.click, {"enabled": not clicks}),
        (settings.click, {"enable_text": True}),
    ):
        with pytest.raises(BadRequestsError) as caught:
            one.patch(request_body=asked)
        assert read(caught.value)["errors"][0]["field"] in asked
    with pytest.raises(ForbiddenError):
        SendGridAPIClient(site.keys.reads, host=site.url).client.tracking_settings.get()
    assert site.rows(query) == [(opens, clicks)]
