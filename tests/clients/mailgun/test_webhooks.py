"""The published `mailgun` library adds, lists, changes and removes the webhooks of a domain."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from mailgun.client import Client

from mailqueue.db.pool import connect
from mailqueue.webhooks import endpoints
from mailqueue.webhooks.store import endpoints as endpoints_store
from tests import make
from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served
from tests.webhooks.delivering import master

URL = "https://app.example.com/hooks"
OTHER = f"{URL}/other"


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        for event in listed(made):
            made.domains_webhooks.delete(domain=DOMAIN, webhook_name=event)
        yield made


def listed(client: Client) -> dict[str, list[str]]:
    found = client.domains_webhooks.get(domain=DOMAIN).json()["webhooks"]
    return {event: one["urls"] for event, one in found.items()}


def added(client: Client, event: str, *urls: str) -> Any:
    data = {"id": event, "url": list(urls) or [URL]}
    return client.domains_webhooks.create(domain=DOMAIN, data=data)


def stored(site: Served) -> list[tuple[Any, ...]]:
    return site.rows(
        "SELECT url, event_types FROM mailqueue.webhooks"
        " WHERE format = 'mailgun' AND removed_at IS NULL ORDER BY id"
    )


def asked(
    site: Served, method: str, data: Any = None, query: Any = None, *, key: str | None = None
) -> requests.Response:
    """Send a request of version 4, which the library has no call for."""
    return requests.request(
        method,
        f"{site.url}/v4/domains/{DOMAIN}/webhooks",
        data=data,
        params=query,
        auth=("api", key or site.keys.live),
        timeout=60,
    )


async def keys_of(site: Served) -> list[str]:
    async with connect(site.database) as conn:
        ids = await make.rows(
            conn,
            "SELECT id FROM mailqueue.webhooks"
            " WHERE format = 'mailgun' AND removed_at IS NULL ORDER BY id",
        )
        kept = await endpoints_store.read_keys(conn, [each for (each,) in ids])
        return [
            (await endpoints.secrets_of(conn, one, master=master()))[0].reveal() for one in kept
        ]


def test_an_event_has_the_urls_that_it_was_given(site: Served, client: Client) -> None:
    made = added(client, "clicked", URL, OTHER)
    added(client, "temporary_fail", URL)
    shown = client.domains_webhooks.get(domain=DOMAIN, webhook_name="clicked").json()

    assert made.status_code == 200
    assert made.json()["message"] == "Webhook has been created"
    assert made.json()["webhook"] == {"urls": [URL, OTHER]} == shown["webhook"]
    assert listed(client) == {"clicked": [URL, OTHER], "temporary_fail": [URL]}
    assert stored(site) == [
        (URL, ["email.clicked", "email.deferred"]),
        (OTHER, ["email.clicked"]),
    ]


def test_all_webhooks_have_one_signing_key_which_is_shown_once(client: Client) -> None:
    first = added(client, "delivered", URL).json()
    second = added(client, "opened", OTHER).json()

    assert len(first["http_signing_key"]) == 64
    assert "http_signing_key" not in second
    assert "signing" not in client.domains_webhooks.get(domain=DOMAIN).text


def test_later_webhooks_are_signed_by_the_key_of_the_first(site: Served, client: Client) -> None:
    key = added(client, "delivered", URL).json()["http_signing_key"]
    added(client, "opened", OTHER)

    assert site.run(keys_of(site)) == [key, key]


def test_the_urls_of_an_event_are_replaced(site: Served, client: Client) -> None:
    added(client, "clicked", URL)
    added(client, "opened", URL)
    data = [("url", OTHER)]
    moved = client.domains_webhooks.put(domain=DOMAIN, webhook_name="clicked", data=data)

    assert moved.json()["message"] == "Webhook has been updated"
    assert listed(client) == {"opened": [URL], "clicked": [OTHER]}
    assert stored(site) == [(URL, ["email.opened"]), (OTHER, ["email.clicked"])]


def test_a_url_that_takes_the_place_of_all_others_is_signed_by_their_key(
    site: Served, client: Client
) -> None:
    key = added(client, "clicked", URL).json()["http_signing_key"]
    data = [("url", OTHER)]
    moved = client.domains_webhooks.put(domain=DOMAIN, webhook_name="clicked", data=data)

    assert moved.json()["message"] == "Webhook has been updated"
    assert "http_signing_key" not in moved.json()
    assert stored(site) == [(OTHER, ["email.clicked"])]
    assert site.run(keys_of(site)) == [key]


def test_two_webhooks_of_one_url_keep_their_events(site: Served, client: Client) -> None:
    for kind in ("email.opened", "email.clicked"):
        new = {"url": URL, "event_types": [kind], "format": "mailgun"}
        answer = requests.post(
            f"{site.url}/v1/webhooks", json=new, headers={"X-API-Key": site.keys.live}, timeout=60
        )
        assert answer.status_code == 201, answer.text
    added(client, "delivered", URL)
    assert stored(site) == [
        (URL, ["email.delivered", "email.opened"]),
        (URL, ["email.clicked"]),
    ]
    client.domains_webhooks.delete(domain=DOMAIN, webhook_name="clicked")
    assert stored(site) == [(URL, ["email.delivered", "email.opened"])]


def test_an_event_without_urls_is_gone_and_so_is_a_url_without_events(
    site: Served, client: Client
) -> None:
    added(client, "clicked", URL)
    gone = client.domains_webhooks.delete(domain=DOMAIN, webhook_name="clicked")

    assert (gone.status_code, gone.json()["webhook"]) == (200, {"urls": [URL]})
    assert gone.json()["message"] == "Webhook has been deleted"
    assert (listed(client), stored(site)) == ({}, [])
    again = client.domains_webhooks.get(domain=DOMAIN, webhook_name="clicked")
    assert (again.status_code, again.json()) == (404, {"message": "Webhook not found"})


def test_version_4_takes_a_url_with_its_events(site: Served, client: Client) -> None:
    made = asked(site, "POST", {"url": URL, "event_types": ["delivered", "permanent_fail"]})
    before = listed(client)
    asked(site, "PUT", {"url": URL, "event_types": "opened,clicked"})
    after = listed(client)
    gone = asked(site, "DELETE", query={"url": URL})

    assert before == {"delivered": [URL], "permanent_fail": [URL]}
    assert made.json()["webhooks"] == {event: {"urls": [URL]} for event in before}
    assert (after, listed(client)) == ({"opened": [URL], "clicked": [URL]}, {})
    assert gone.json() == {"webhooks": {}}
    for method in ("PUT", "DELETE"):
        answer = asked(site, method, {"url": URL, "event_types": "opened"}, {"url": URL})
        assert (answer.status_code, answer.json()) == (404, {"message": "Webhook not found"})


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"id": "clicked"}, "url parameter is missing"),
        ({"url": URL}, "id parameter is missing"),
        ({"id": "read", "url": URL}, "'id' parameter"),
        ({"id": "clicked", "url": "ftp://example.com"}, "'url' parameter"),
        ({"id": "clicked", "url": "https://127.0.0.2/x"}, "'url' parameter"),
        ({"id": "clicked", "url": [f"{URL}/{n}" for n in range(4)]}, "'url' parameter"),
        ({"id": "clicked", "url": URL, "secret": "x"}, "'secret' parameter"),
    ],
)
def test_what_is_invalid_is_named_and_adds_nothing(client: Client, data: Any, named: str) -> None:
    answer = client.domains_webhooks.create(domain=DOMAIN, data=data)

    assert answer.status_code == 400
    assert named in answer.json()["message"]
    assert listed(client) == {}


def test_an_event_is_added_once_and_a_bad_url_among_several_adds_none(
    site: Served, client: Client
) -> None:
    added(client, "clicked", URL)
    again = added(client, "clicked", OTHER)
    half = added(client, "opened", OTHER, "https://10.0.0.1/x")

    assert (again.status_code, half.status_code) == (400, 400)
    assert "already exists" in again.json()["message"]
    assert stored(site) == [(URL, ["email.clicked"])]


def test_webhooks_of_another_project_are_neither_shown_nor_changed(
    site: Served, client: Client
) -> None:
    added(client, "clicked", URL)
    with Client(auth=("api", site.keys.other), api_url=site.url) as other:
        assert listed(other) == {}
        gone = other.domains_webhooks.delete(domain=DOMAIN, webhook_name="clicked")
        assert gone.status_code == 404
    gone = asked(site, "DELETE", query={"url": URL}, key=site.keys.other)
    assert gone.status_code == 404
    assert listed(client) == {"clicked": [URL]}
