"""The published `mailgun` library reads and changes bounces, complaints and unsubscribes."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from mailgun.client import Client

from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served
from tests.clients.suppressing import BOUNCED, clear, fill, put, stored


@pytest.fixture(autouse=True)
def filled(site: Served) -> None:
    fill(site)


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


def addresses(answer: Any) -> list[str]:
    return [one["address"] for one in answer.json()["items"]]


def test_each_list_has_the_addresses_of_its_reasons(client: Client) -> None:
    bounces = client.bounces.get(domain=DOMAIN)
    hard = client.bounces.get(domain=DOMAIN, bounce_address="hard@example.org").json()
    unsubscribes = client.unsubscribes.get(domain=DOMAIN).json()["items"]

    assert addresses(bounces) == ["often@example.org", "hard@example.org"]
    assert (hard["code"], hard["error"]) == ("550", BOUNCED)
    assert hard["created_at"].endswith(" UTC")
    assert addresses(client.complaints.get(domain=DOMAIN)) == ["angry@example.org"]
    assert {one["address"]: one["tags"] for one in unsubscribes} == {
        "asm@example.org": ["asm-7"],
        "manual@example.org": ["*"],
        "all@example.org": ["*"],
        "left@example.org": ["marketing"],
    }


def test_an_address_with_several_unsubscribes_is_one_item(site: Served, client: Client) -> None:
    put(site, "left@example.org", "unsubscribed", category="news")

    found = client.unsubscribes.get(domain=DOMAIN, unsubscribe_address="left@example.org").json()
    assert found["tags"] == ["marketing", "news"]
    assert addresses(client.unsubscribes.get(domain=DOMAIN)).count("left@example.org") == 1
    client.unsubscribes.delete(domain=DOMAIN, unsubscribe_address="left@example.org")
    assert "left@example.org" not in {address for address, _, _ in stored(site)}


def followed(site: Served, url: str) -> Any:
    assert urlsplit(url).netloc == site.host
    return requests.get(url, auth=("api", site.keys.live), timeout=60)


def test_the_urls_of_pages_lead_through_the_list_and_back(site: Served, client: Client) -> None:
    clear(site)
    for number in range(7):
        put(site, f"b{number}@example.org", "hard_bounce")

    page: Any = client.bounces.get(domain=DOMAIN, filters={"limit": 3})
    pages = [addresses(page)]
    while pages[-1]:
        page = followed(site, page.json()["paging"]["next"])
        pages.append(addresses(page))
    assert pages == [
        ["b6@example.org", "b5@example.org", "b4@example.org"],
        ["b3@example.org", "b2@example.org", "b1@example.org"],
        ["b0@example.org"],
        [],
    ]
    last = followed(site, page.json()["paging"]["last"])
    assert addresses(last) == ["b2@example.org", "b1@example.org", "b0@example.org"]
    before = followed(site, last.json()["paging"]["previous"])
    assert addresses(before) == ["b5@example.org", "b4@example.org", "b3@example.org"]
    assert addresses(followed(site, before.json()["paging"]["first"])) == pages[0]


def test_a_list_is_emptied_page_by_page(site: Served, client: Client) -> None:
    clear(site)
    for number in range(5):
        put(site, f"b{number}@example.org", "hard_bounce")

    page: Any = client.bounces.get(domain=DOMAIN, filters={"limit": 2})
    while found := addresses(page):
        for address in found:
            assert client.bounces.delete(domain=DOMAIN, bounce_address=address).ok
        page = followed(site, page.json()["paging"]["next"])

    assert stored(site) == set()


def test_a_term_is_the_beginning_of_addresses(client: Client) -> None:
    found = client.bounces.get(domain=DOMAIN, filters={"term": "Hard@"})

    assert addresses(found) == ["hard@example.org"]
    assert "term=Hard" in found.json()["paging"]["next"]


def test_addresses_are_added_by_a_form_and_as_a_list(site: Served, client: Client) -> None:
    one = client.bounces.create(
        data={"address": "One@example.org", "code": 550, "error": "Test error"}, domain=DOMAIN
    )
    many = requests.post(
        f"{site.url}/v3/{DOMAIN}/complaints",
        json=[{"address": "two@example.org"}, {"address": "three@example.org"}],
        auth=("api", site.keys.live),
        timeout=60,
    )
    left = client.unsubscribes.create(
        data={"address": "four@example.org", "tag": "*"},
        domain=DOMAIN,
        headers={"Content-Type": "application/json"},
    )

    assert one.json() == {
        "message": "Address has been added to the bounces table",
        "address": "one@example.org",
    }
    assert many.json() == {"message": "2 addresses have been added to the complaints table"}
    assert left.ok, left.text
    assert {
        ("one@example.org", "hard_bounce", ""),
        ("two@example.org", "complaint", ""),
        ("three@example.org", "complaint", ""),
        ("four@example.org", "unsubscribed", ""),
    } <= stored(site)
    shown = client.bounces.get(domain=DOMAIN, bounce_address="one@example.org").json()
    assert (shown["code"], shown["error"]) == ("550", "550 Test error")


def test_addresses_are_removed_from_their_list_alone(site: Served, client: Client) -> None:
    wrong = client.bounces.delete(domain=DOMAIN, bounce_address="angry@example.org")
    right = client.complaints.delete(domain=DOMAIN, complaint_address="angry@example.org")
    again = client.complaints.delete(domain=DOMAIN, complaint_address="angry@example.org")

    assert (wrong.status_code, wrong.json()) == (
        404,
        {"message": "Address not found in bounces table"},
    )
    assert right.json() == {
        "message": "Spam complaint has been removed",
        "address": "angry@example.org",
    }
    assert again.status_code == 404
    assert "angry@example.org" not in {address for address, _, _ in stored(site)}


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"address": "nobody"}, "'address'"),
        ({"address": "a@example.org", "code": "abc"}, "'code'"),
        ({"address": "a@example.org", "created_at": "Thu, 13 Oct 2011 18:02:00 UTC"}, "created_at"),
        ({}, "'address'"),
    ],
)
def test_what_is_invalid_is_refused_by_name(
    site: Served, client: Client, data: Any, named: str
) -> None:
    before = stored(site)

    answer = client.bounces.create(data=data or {"code": "550"}, domain=DOMAIN)

    assert answer.status_code == 400
    assert named in answer.json()["message"]
    assert stored(site) == before


def test_a_tag_of_mail_is_nothing_to_unsubscribe_from(site: Served, client: Client) -> None:
    answer = client.unsubscribes.create(
        data={"address": "a@example.org", "tag": "newsletter"}, domain=DOMAIN
    )

    assert answer.status_code == 400
    assert "'tag'" in answer.json()["message"]


def test_whitelists_are_not_there(client: Client) -> None:
    whitelists = client.whitelists.get(domain=DOMAIN)

    assert (whitelists.status_code, bool(whitelists.json()["message"])) == (404, True)


def test_a_key_sees_and_changes_its_project_alone(site: Served) -> None:
    with Client(auth=("api", site.keys.other), api_url=site.url) as other:
        assert addresses(other.bounces.get(domain=DOMAIN)) == ["foreign@example.org"]
        gone = other.bounces.delete(domain=DOMAIN, bounce_address="hard@example.org")

    assert gone.status_code == 404
    assert ("hard@example.org", "hard_bounce", "") in stored(site)


def test_a_key_without_the_scope_is_refused(site: Served) -> None:
    with Client(auth=("api", site.keys.reads), api_url=site.url) as reads:
        answer = reads.bounces.get(domain=DOMAIN)

    assert answer.status_code == 403
    assert "suppression:manage" in answer.json()["message"]
