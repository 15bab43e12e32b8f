"""The published `mailgun` library removes all addresses of a list."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from mailgun.client import Client

from mailqueue.api.compat.mailgun.clearing import MAX_REMOVED
from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served
from tests.clients.suppressing import clear, fill, put, stored


@pytest.fixture(autouse=True)
def filled(site: Served) -> None:
    fill(site)


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


def reasons(site: Served) -> set[str]:
    return {reason for _, reason, _ in stored(site)}


def test_a_list_that_is_removed_leaves_the_others(site: Served, client: Client) -> None:
    bounces = client.bounces.delete(domain=DOMAIN)
    after_bounces = reasons(site)
    complaints = client.complaints.delete(domain=DOMAIN)
    after_complaints = reasons(site)
    unsubscribes = client.unsubscribes.delete(domain=DOMAIN)

    assert [bounces.json()["message"], complaints.json()["message"]] == [
        "Bounced addresses for this domain have been removed",
        "Complaint addresses for this domain have been removed",
    ]
    assert after_bounces == {"complaint", "unsubscribed", "manual"}
    assert after_complaints == {"unsubscribed", "manual"}
    assert unsubscribes.status_code == 200, unsubscribes.text
    assert stored(site) == set()
    assert client.unsubscribes.get(domain=DOMAIN).json()["items"] == []
    assert len(stored(site, "other")) == 1


def test_an_empty_list_is_removed_again(site: Served, client: Client) -> None:
    clear(site)

    assert client.bounces.delete(domain=DOMAIN).status_code == 200


def test_who_chose_and_bounced_too_stays_suppressed(site: Served, client: Client) -> None:
    site.rows(
        "INSERT INTO mailqueue.bounce_list (project_id, email, bounce_type)"
        " SELECT id, 'manual@example.org', 'hard' FROM mailqueue.projects WHERE name = 'default'"
        " RETURNING 1"
    )
    answer = client.unsubscribes.delete(domain=DOMAIN)
    left = {address for address, reason, _ in stored(site) if reason in ("manual", "unsubscribed")}
    site.rows("DELETE FROM mailqueue.bounce_list RETURNING 1")

    assert (answer.status_code, "1 of 4" in answer.json()["message"]) == (400, True), answer.text
    assert left == {"manual@example.org"}


def test_a_list_beyond_the_bound_stays_as_it_is(site: Served, client: Client) -> None:
    site.rows(
        "INSERT INTO mailqueue.suppressions (project_id, address, reason, category)"
        " SELECT id, 'many' || n || '@example.org', 'complaint', '' FROM mailqueue.projects,"
        " generate_series(1, %s) AS n WHERE name = 'default' RETURNING 1",
        MAX_REMOVED,
    )
    before = stored(site)
    answer = client.complaints.delete(domain=DOMAIN)

    assert (answer.status_code, "2,000" in answer.json()["message"]) == (400, True), answer.text
    assert stored(site) == before


def test_many_at_once_remove_a_list(site: Served, client: Client) -> None:
    for number in range(30):
        put(site, f"many{number}@example.org", "complaint")
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: client.complaints.delete(domain=DOMAIN), range(3)))

    assert {one.status_code for one in answers} == {200}
    assert "complaint" not in reasons(site)


def test_a_list_is_removed_by_its_own_project_with_the_permission_only(site: Served) -> None:
    before = stored(site)
    keys = [key_with(site, Scope.EMAIL_READ), site.keys.test]
    refused = [
        requests.delete(f"{site.url}/v3/{DOMAIN}/bounces", auth=("api", key), timeout=60)
        for key in keys
    ]
    other = requests.delete(
        f"{site.url}/v3/{DOMAIN}/bounces", auth=("api", site.keys.other), timeout=60
    )

    assert ([one.status_code for one in refused], other.status_code) == ([403, 403], 200)
    assert stored(site) == before
    assert stored(site, "other") == set()
