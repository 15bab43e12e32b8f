"""The published `mailgun` library adds, lists and removes DKIM keys, and sets up domains."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from mailgun.client import Client

from mailqueue.dkim.keys import public_value
from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.serving import Served

NEW = "shop.example.com"


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    allow(site, None)
    site.rows("DELETE FROM mailqueue.dkim_keys RETURNING 1")
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


def allow(site: Served, patterns: list[str] | None) -> None:
    query = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING 1"
    site.rows(query, patterns)


def asked(
    site: Served, method: str, path: str, *, key: str | None = None, **more: Any
) -> requests.Response:
    auth = ("api", key or site.keys.live)
    return requests.request(method, f"{site.url}{path}", auth=auth, timeout=60, **more)


def add(client: Client, selector: str = "smtp", domain: str = NEW, **more: str) -> Any:
    return client.dkim_keys.create(data={"signing_domain": domain, "selector": selector, **more})


def selectors(client: Client, **filters: Any) -> list[str]:
    items = client.dkim_keys.get(filters=filters).json()["items"]
    return [one["selector"] for one in items]


def pem_of(bits: int = 2048, *, password: bytes | None = None) -> bytes:
    # As `openssl genrsa -traditional` writes it, which the library's example uses.
    sealing = NoEncryption() if password is None else BestAvailableEncryption(password)
    key = generate_private_key(65537, bits)
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, sealing)


def sign(site: Served, selector: str) -> None:
    """Let a key sign, as if its record were in DNS."""
    query = "UPDATE mailqueue.dkim_keys SET status = 'active', active_at = now()"
    site.rows(f"{query} WHERE selector = %s RETURNING 1", selector)


def test_a_generated_key_is_listed_with_its_record_and_removed(client: Client) -> None:
    made = add(client, bits="2048")
    named = {"signing_domain": NEW, "selector": "smtp"}

    assert made.status_code == 200, made.text
    record = made.json()["dns_record"]
    assert (record["name"], record["record_type"]) == (f"smtp._domainkey.{NEW}", "TXT")
    assert (record["valid"], record["is_active"]) == ("unknown", False)
    assert client.dkim_keys.get(filters=named).json()["items"] == [made.json()]
    assert client.dkim_keys.get(filters={"selector": "x"}).json()["items"] == []
    assert client.dkim_keys.delete(filters=named).json() == {"message": "success"}
    assert client.dkim_keys.delete(filters=named).status_code == 404
    assert selectors(client) == []


def test_an_imported_key_is_published_as_it_is(client: Client) -> None:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    pem = pem_of()
    data = {"signing_domain": NEW, "selector": "smtp", "bits": "2048"}
    made = client.dkim_keys.create(data=data, files=[("pem", ("server.key", pem))])
    der = load_pem_private_key(pem, None).private_bytes(
        Encoding.DER, PrivateFormat.PKCS8, NoEncryption()
    )

    assert made.status_code == 200, made.text
    assert f"p={public_value(der)}" in made.json()["dns_record"]["value"].replace(" ", "")


def test_a_second_key_waits_until_it_replaces_the_first(site: Served, client: Client) -> None:
    add(client, "first")
    early = add(client, "second")
    sign(site, "first")
    second = add(client, "second")
    taken = add(client, "first")

    assert (early.status_code, "selector" in early.json()["message"]) == (400, True)
    assert second.status_code == 200, second.text
    assert (taken.status_code, "already" in taken.json()["message"]) == (400, True)
    shown = {
        one["selector"]: one["dns_record"]["is_active"]
        for one in client.dkim_keys.get().json()["items"]
    }
    assert shown == {"first": True, "second": False}


def test_a_selector_that_a_removed_key_had_is_refused_by_name(client: Client) -> None:
    add(client)
    client.dkim_keys.delete(filters={"signing_domain": NEW, "selector": "smtp"})
    again = add(client)

    assert (again.status_code, "'selector'" in again.json()["message"]) == (400, True), again.text


def test_keys_are_listed_page_by_page(client: Client) -> None:
    for name in ("a", "b", "c"):
        assert add(client, domain=f"{name}.example.com").status_code == 200
    first = client.dkim_keys.get(filters={"limit": "2", "selector": "smtp"}).json()
    found = requests.get(first["paging"]["next"], auth=client.auth, timeout=60).json()
    back = requests.get(found["paging"]["previous"], auth=client.auth, timeout=60).json()

    assert [one["signing_domain"][0] for one in first["items"]] == ["a", "b"]
    assert [one["signing_domain"][0] for one in found["items"]] == ["c"]
    assert back["items"] == first["items"]


@pytest.mark.parametrize(
    ("data", "status", "why"),
    [
        ({"selector": "s"}, 400, "signing_domain parameter is missing"),
        ({"signing_domain": NEW}, 400, "selector parameter is missing"),
        ({"signing_domain": NEW, "selector": "s", "bits": "1024"}, 400, "'bits' parameter"),
        ({"signing_domain": NEW, "selector": "a b"}, 400, "'selector' parameter"),
        ({"signing_domain": NEW, "selector": "x" * 64}, 400, "'selector' parameter"),
        ({"signing_domain": NEW, "selector": "nul\0"}, 400, "'selector' parameter"),
        ({"signing_domain": "no domain", "selector": "s"}, 404, "Domain not found"),
        ({"signing_domain": NEW, "selector": "s", "pem": "x"}, 400, "'pem' parameter"),
        ({"signing_domain": NEW, "selector": "s", "more": "1"}, 400, "'more' parameter"),
        ({"signing_domain": [NEW, NEW], "selector": "s"}, 400, "'signing_domain' parameter"),
    ],
)
def test_what_cannot_be_added_is_refused_by_name(
    client: Client, data: Any, status: int, why: str
) -> None:
    answer = client.dkim_keys.create(data=data)

    assert (answer.status_code, why in answer.json()["message"]) == (status, True), answer.text
    assert selectors(client) == []


def test_an_imported_key_of_another_algorithm_than_signs_is_refused(
    site: Served, client: Client
) -> None:
    add(client, "first")
    sign(site, "first")
    site.rows("UPDATE mailqueue.dkim_keys SET algorithm = 'ed25519-sha256' RETURNING 1")
    data = {"signing_domain": NEW, "selector": "second"}
    refused = client.dkim_keys.create(data=data, files=[("pem", ("server.key", pem_of()))])

    assert refused.status_code == 400, refused.text
    assert all(text in refused.json()["message"] for text in ("'pem'", "ed25519"))
    assert selectors(client) == ["first"]


def test_a_private_key_that_cannot_sign_here_is_refused(site: Served, client: Client) -> None:
    other = Ed25519PrivateKey.generate()
    wrong = [
        pem_of(1024),
        pem_of(password=b"secret"),
        pem_of()[:900],
        b"x" * 20_000,
        other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    ]
    data = {"signing_domain": NEW, "selector": "s"}

    for pem in wrong:
        answer = client.dkim_keys.create(data=data, files=[("pem", ("server.key", pem))])
        assert (answer.status_code, "'pem' parameter" in answer.text) == (400, True), answer.text
        assert "BEGIN" not in answer.text
    two = [("pem", ("a.key", pem_of())), ("pem", ("b.key", pem_of()))]
    assert client.dkim_keys.create(data=data, files=two).status_code == 400
    assert asked(site, "DELETE", "/v1/dkim/keys").status_code == 400
    for query in ({"page": "string"}, {"limit": "0"}, {"more": "1"}, {"selector": "\0"}):
        assert asked(site, "GET", "/v1/dkim/keys", params=query).status_code == 400


def test_several_at_once_add_one_key(site: Served, client: Client) -> None:
    data = {"signing_domain": NEW, "selector": "smtp"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(lambda _: asked(site, "POST", "/v1/dkim/keys", data=data), range(4))
        )

    assert sorted(one.status_code for one in answers) == [200, 400, 400, 400]
    assert selectors(client) == ["smtp"]


def test_keys_of_another_project_are_neither_shown_nor_removed(
    site: Served, client: Client
) -> None:
    add(client)
    named = {"signing_domain": NEW, "selector": "smtp"}
    seen = asked(site, "GET", "/v1/dkim/keys", key=site.keys.other)
    removed = asked(site, "DELETE", "/v1/dkim/keys", key=site.keys.other, params=named)
    narrow = key_with(site, Scope.PROJECT_READ)

    assert (seen.json()["items"], removed.status_code) == ([], 404)
    assert asked(site, "POST", "/v1/dkim/keys", key=narrow, data=named).status_code == 403
    assert asked(site, "DELETE", "/v1/dkim/keys", key=narrow, params=named).status_code == 403
    assert selectors(client) == ["smtp"]


def test_a_selector_that_is_set_adds_a_key_once(client: Client) -> None:
    for _ in range(2):
        answer = client.domains_dkimselector.put(domain=NEW, data={"dkim_selector": "s"})
        assert (answer.status_code, answer.json()) == (200, {"message": "updated dkim selector"})
    wrong = client.domains_dkimselector.put(domain=NEW, data={"dkim_selector": "a b"})

    assert selectors(client) == ["s"]
    assert (wrong.status_code, "'dkim_selector'" in wrong.text) == (400, True)
    assert client.domains_dkimselector.put(domain=NEW, data={}).status_code == 400


def test_options_of_a_domain_are_confirmed_or_refused(client: Client) -> None:
    same = client.domains.put(domain=NEW, data={"name": NEW, "spam_action": "disabled"})
    refused = [
        client.domains.put(domain=NEW, data={"spam_action": "tag"}),
        client.domains.put(domain=NEW, data={"name": "other.example.com"}),
        client.domains.put(domain=NEW, data={"smtp_password": "secret-word"}),
        client.domains_dkimauthority.put(domain=NEW, data={"self": "false"}),
        client.domains_dkimauthority.put(domain=NEW, data={}),
        client.domains_webprefix.put(domain=NEW, data={}),
    ]
    own = client.domains_dkimauthority.put(domain=NEW, data={"self": "true"}).json()

    assert (same.status_code, same.json()["message"]) == (200, "Domain has been updated")
    assert same.json()["domain"]["name"] == NEW
    assert {one.status_code for one in refused} == {400}
    assert (own["changed"], own["sending_dns_records"]) == (False, [])


def test_the_host_of_links_is_changed_by_administrators_only(site: Served, client: Client) -> None:
    query = "UPDATE mailqueue.projects SET tracking_domain = %s WHERE name = 'default' RETURNING 1"
    site.rows(query, f"click.{NEW}")
    same = client.domains_webprefix.put(domain=NEW, data={"web_prefix": "Click"})
    other = client.domains_webprefix.put(domain=NEW, data={"web_prefix": "python"})
    site.rows(query, None)

    assert (same.status_code, same.json()) == (200, {"message": "updated web prefix"})
    assert other.status_code == 403


def test_queues_are_disabled_while_the_project_is_paused(site: Served, client: Client) -> None:
    query = "UPDATE mailqueue.projects SET status = %s, status_reason = %s, suspended_at = NULL"
    before = client.domains_sendingqueues.get(domain=NEW).json()
    site.rows(f"{query} WHERE name = 'default' RETURNING 1", "paused", "moving")
    paused = client.domains_sendingqueues.get(domain=NEW).json()
    site.rows(f"{query} WHERE name = 'default' RETURNING 1", "active", None)

    idle = {"is_disabled": False, "disabled": {"until": "", "reason": ""}}
    assert before == {"regular": idle, "scheduled": idle}
    assert paused["regular"] == {"is_disabled": True, "disabled": {"until": "", "reason": "moving"}}
    assert paused["scheduled"] == paused["regular"]


def test_a_domain_that_is_not_the_projects_has_no_settings(site: Served, client: Client) -> None:
    allow(site, ["example.org"])
    answers = [
        client.domains_sendingqueues.get(domain=NEW),
        client.domains.put(domain=NEW, data={"spam_action": "disabled"}),
        client.domains_dkimselector.put(domain=NEW, data={"dkim_selector": "s"}),
        client.domains_dkimauthority.put(domain=NEW, data={"self": "true"}),
        client.domains_webprefix.put(domain=NEW, data={"web_prefix": "email"}),
        add(client),
    ]
    allow(site, None)

    assert {one.status_code for one in answers} == {404}
    assert selectors(client) == []
