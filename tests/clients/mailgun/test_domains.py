"""The published `mailgun` library lists the domains of a project and shows one with its records."""

from collections.abc import Iterator

import httpx2
import pytest
import requests
from mailgun.client import Client

from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served


@pytest.fixture(scope="module", autouse=True)
def signing(site: Served) -> None:
    """Let the project send from one domain, which has a key."""
    site.rows(
        "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING 1",
        [DOMAIN],
    )
    body, headers = {"domain": DOMAIN}, {"X-API-Key": site.keys.live}
    answer = httpx2.post(f"{site.url}/v1/dkim", json=body, headers=headers)
    assert answer.status_code == 201, answer.text


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


def test_domains_are_listed_by_both_versions(site: Served, client: Client) -> None:
    listed = client.domainlist.get()
    third = requests.get(f"{site.url}/v3/domains", auth=("api", site.keys.live), timeout=60)

    assert listed.status_code == 200
    assert [one["name"] for one in listed.json()["items"]] == [DOMAIN]
    assert listed.json() == third.json()


def test_a_domain_is_shown_with_the_record_to_publish(client: Client) -> None:
    shown = client.domains.get(domain_name=DOMAIN).json()
    (record,) = shown["sending_dns_records"]

    assert (shown["domain"]["name"], shown["domain"]["state"]) == (DOMAIN, "active")
    assert record["name"].endswith(f"._domainkey.{DOMAIN}")
    assert (record["record_type"], record["valid"]) == ("TXT", "unknown")
    assert record["value"].startswith("v=DKIM1;")


def test_a_domain_that_the_project_does_not_send_from_is_not_found(client: Client) -> None:
    answer = client.domains.get(domain_name="other.example.org")

    assert answer.status_code == 404
    assert answer.json() == {"message": "Domain not found: other.example.org"}


def test_keys_of_another_project_are_not_shown(site: Served) -> None:
    with Client(auth=("api", site.keys.other), api_url=site.url) as other:
        shown = other.domains.get(domain_name=DOMAIN).json()

    assert shown["sending_dns_records"] == []
