"""The published `mailgun` library manages SMTP credentials, with which mail is sent by SMTP."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from mailgun.client import Client

from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served

LOGIN = f"alice@{DOMAIN}"
PATH = f"/v3/domains/{DOMAIN}/credentials"


def allow(site: Served, patterns: list[str] | None) -> None:
    query = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING 1"
    site.rows(query, patterns)


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    allow(site, [DOMAIN])
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made
    site.rows("DELETE FROM mailqueue.api_keys WHERE name LIKE '%%@example%%' RETURNING 1")
    allow(site, None)


def asked(
    site: Served, method: str, path: str = PATH, *, key: str | None = None, **more: Any
) -> requests.Response:
    auth = ("api", key or site.keys.live)
    return requests.request(method, f"{site.url}{path}", auth=auth, timeout=60, **more)


def add(client: Client, login: str = LOGIN) -> str:
    made = client.domains_credentials.create(domain=DOMAIN, data={"login": login})
    assert made.status_code == 200, made.text
    ((_, password),) = made.json()["credentials"].items()
    return str(password)


def sends(site: Served, password: str) -> int:
    """Return the status of a request to send with a password."""
    data = {"from": f"a@{DOMAIN}", "to": "b@example.com", "subject": "s", "text": "t"}
    return asked(site, "POST", f"/v3/{DOMAIN}/messages", key=password, data=data).status_code


def logins(client: Client) -> list[str]:
    found = client.domains_credentials.get(domain=DOMAIN).json()
    assert found["total_count"] == len(found["items"])
    return [one["login"] for one in found["items"]]


def test_credentials_are_added_listed_and_removed(site: Served, client: Client) -> None:
    made = client.domains_credentials.create(domain=DOMAIN, data={"login": LOGIN})
    password = made.json()["credentials"][LOGIN]
    (item,) = client.domains_credentials.get(domain=DOMAIN).json()["items"]
    sent = sends(site, password)
    may_not = asked(site, "GET", key=password)
    gone = client.domains_credentials.delete(domain=DOMAIN, login=LOGIN)

    assert made.json()["message"] == "Created 1 credentials pair(s)"
    assert (item["login"], item["mailbox"], item["size_bytes"]) == (LOGIN, LOGIN, None)
    assert item["created_at"].endswith(" UTC")
    assert (sent, may_not.status_code) == (200, 403)
    assert gone.json() == {"message": "Credentials have been deleted", "spec": LOGIN}
    assert sends(site, password) == 401
    again = client.domains_credentials.delete(domain=DOMAIN, login=LOGIN)
    assert (again.status_code, again.json()) == (404, {"message": "Credentials not found"})


def test_a_changed_password_replaces_the_one_before(site: Served, client: Client) -> None:
    old = add(client)
    changed = client.domains_credentials.put(domain=DOMAIN, login=LOGIN, data={})
    new = changed.json()["credentials"][LOGIN]

    assert (changed.status_code, changed.json()["message"]) == (200, "Password changed")
    assert (sends(site, old), sends(site, new)) == (401, 200)
    assert logins(client) == [LOGIN]


def test_all_credentials_of_a_domain_are_removed_and_other_keys_stay(
    site: Served, client: Client
) -> None:
    passwords = [add(client, "alice"), add(client, f"bob@{DOMAIN}")]
    keys = client.keys.get().json()["total_count"]
    found = client.domains_credentials.delete(domain=DOMAIN)

    assert found.json() == {"message": "All domain credentials have been deleted", "count": 2}
    assert [sends(site, one) for one in passwords] == [401, 401]
    assert client.keys.get().json()["total_count"] == keys - 2


def test_credentials_are_listed_in_parts_newest_first(site: Served, client: Client) -> None:
    for name in ("a", "b", "c"):
        add(client, name)
    part = asked(site, "GET", params={"skip": 1, "limit": 1}).json()

    assert logins(client) == [f"{name}@{DOMAIN}" for name in "cba"]
    assert (part["total_count"], part["items"][0]["login"]) == (3, f"b@{DOMAIN}")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({}, "login parameter is missing"),
        ({"login": LOGIN, "password": "chosen-password"}, "'password' parameter"),
        ({"login": "alice@example.org"}, "'login' parameter"),
        ({"login": "a b c"}, "'login' parameter"),
        ({"login": "x" * 200}, "'login' parameter"),
        ({"login": "nul\0"}, "'login' parameter"),
        ({"login": ["a", "b"]}, "'login' parameter"),
        ({"login": "a", "more": "1"}, "'more' parameter"),
    ],
)
def test_what_cannot_be_added_is_refused_by_name(client: Client, data: Any, why: str) -> None:
    answer = client.domains_credentials.create(domain=DOMAIN, data=data)

    assert (answer.status_code, why in answer.json()["message"]) == (400, True), answer.text
    assert "chosen-password" not in answer.text
    assert logins(client) == []


def test_a_chosen_password_or_a_taken_login_changes_nothing(site: Served, client: Client) -> None:
    password = add(client)
    chosen = client.domains_credentials.put(domain=DOMAIN, login=LOGIN, data={"password": "12345"})
    taken = client.domains_credentials.create(domain=DOMAIN, data={"login": LOGIN})
    none = client.domains_credentials.put(domain=DOMAIN, login="none", data={})

    assert ([chosen.status_code, taken.status_code], none.status_code) == ([400, 400], 404)
    assert "'password'" in chosen.json()["message"]
    assert "'login'" in taken.json()["message"]
    assert sends(site, password) == 200
    for query in ({"limit": "0"}, {"skip": "-1"}, {"more": "1"}):
        assert asked(site, "GET", params=query).status_code == 400


def test_credentials_that_would_send_from_other_domains_are_refused(
    site: Served, client: Client
) -> None:
    for patterns in (None, [DOMAIN, "example.org"]):
        allow(site, patterns)
        answer = client.domains_credentials.create(domain=DOMAIN, data={"login": LOGIN})
        assert (answer.status_code, "'login' parameter" in answer.text) == (400, True), answer.text
    assert logins(client) == []
    assert asked(site, "GET", "/v3/domains/none.example.net/credentials").status_code == 404


def test_credentials_are_those_of_the_own_project_and_need_the_permission(
    site: Served, client: Client
) -> None:
    password = add(client)
    narrow = key_with(site, Scope.PROJECT_READ)
    limited = key_with(site, Scope.PROJECT_READ, Scope.PROJECT_WRITE)
    answers = [
        asked(site, "DELETE", f"{PATH}/alice", key=site.keys.other),
        asked(site, "DELETE", f"{PATH}/alice", key=site.keys.test),
        asked(site, "DELETE", f"{PATH}/alice", key=narrow),
        asked(site, "POST", key=limited, data={"login": "bob"}),
        asked(site, "PUT", f"{PATH}/alice", key=limited),
    ]

    assert [one.status_code for one in answers] == [404, 404, 403, 403, 403]
    assert asked(site, "GET", key=site.keys.other).json()["items"] == []
    assert sends(site, password) == 200
