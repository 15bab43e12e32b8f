"""The published Python library of Resend adds, lists, verifies and removes domains."""

from typing import Any
from uuid import uuid4

import pytest
import requests
import resend
from resend.exceptions import ResendError

from tests.clients.serving import Served

pytestmark = pytest.mark.usefixtures("resend_here")


@pytest.fixture(autouse=True)
def without_domains(resend_here: None) -> None:
    for one in resend.Domains.list()["data"]:
        resend.Domains.remove(one["id"])


def added(name: str = "shop.example.com") -> Any:
    return resend.Domains.create({"name": name, "region": "eu-west-1"})


def keys_of(site: Served) -> list[tuple[Any, ...]]:
    return site.rows("SELECT domain, status::text FROM mailqueue.dkim_keys ORDER BY created_at")


def test_a_domain_is_added_with_the_record_to_publish(site: Served) -> None:
    made = added("Shop.Example.COM")
    (record,) = made["records"]
    shown: Any = resend.Domains.get(made["id"])

    assert (made["name"], made["status"]) == ("shop.example.com", "pending")
    assert (record["record"], record["type"], record["status"]) == ("DKIM", "TXT", "pending")
    assert record["name"].endswith("._domainkey.shop.example.com")
    assert record["value"].startswith("v=DKIM1;")
    assert shown["object"] == "domain"
    for name in ("id", "name", "status", "region", "created_at", "records"):
        assert shown[name] == made[name], name
    assert ("shop.example.com", "pending") in keys_of(site)


def test_a_domain_whose_key_signs_is_verified(site: Served) -> None:
    made = added()
    with_status = "UPDATE mailqueue.dkim_keys SET status = 'active', active_at = now()"
    site.rows(f"{with_status} WHERE id = %s RETURNING 1", made["id"])
    shown: Any = resend.Domains.get(made["id"])

    assert (shown["status"], shown["records"][0]["status"]) == ("verified", "verified")


def test_pages_have_each_domain_once_newest_first() -> None:
    ids = [added(f"d{number}.example.com")["id"] for number in range(3)]
    first: Any = resend.Domains.list({"limit": 2})
    second: Any = resend.Domains.list({"limit": 2, "after": first["data"][-1]["id"]})
    back: Any = resend.Domains.list({"limit": 2, "before": second["data"][0]["id"]})

    assert [one["id"] for page in (first, second) for one in page["data"]] == ids[::-1]
    assert [page["has_more"] for page in (first, second)] == [True, False]
    assert back["data"] == first["data"]


def test_a_domain_whose_record_is_not_in_dns_stays_pending() -> None:
    made = added("no.example.com")
    asked: Any = resend.Domains.verify(made["id"])

    assert (asked["object"], asked["id"]) == ("domain", made["id"])
    assert resend.Domains.get(made["id"])["status"] == "pending"


def test_the_tracking_of_a_domain_is_confirmed_and_not_changed(site: Served) -> None:
    made = added("tracked.example.com")
    query = "SELECT track_opens, track_clicks FROM mailqueue.projects WHERE name = 'default'"
    ((opens, clicks),) = site.rows(query)
    now: Any = {"id": made["id"], "open_tracking": opens, "click_tracking": clicks}
    confirmed: Any = resend.Domains.update(now)

    assert (confirmed["object"], confirmed["id"]) == ("domain", made["id"])
    others: Any = {"open_tracking": not opens, "click_tracking": not clicks, "tls": "enforced"}
    for named, other in others.items():
        with pytest.raises(ResendError, match=named):
            resend.Domains.update(now | {named: other})
    assert site.rows(query) == [(opens, clicks)]


def test_a_removed_domain_has_no_key_left_and_can_be_added_again(site: Served) -> None:
    made = added("gone.example.com")
    gone: Any = resend.Domains.remove(made["id"])

    assert (gone["object"], gone["id"], gone["deleted"]) == ("domain", made["id"], True)
    assert resend.Domains.list()["data"] == []
    assert {state for name, state in keys_of(site) if name == "gone.example.com"} == {"revoked"}
    with pytest.raises(ResendError, match="Domain not found"):
        resend.Domains.get(made["id"])
    assert added("gone.example.com")["id"] != made["id"]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"name": "not a domain"}, "name"),
        ({"name": ""}, "name"),
        ({}, "name"),
        ({"name": 7}, "name"),
        ({"name": "shop.example.com", "custom_return_path": "out"}, "custom_return_path"),
    ],
)
def test_what_is_invalid_is_named_and_adds_nothing(given: Any, named: str) -> None:
    with pytest.raises(ResendError, match=named):
        resend.Domains.create(given)
    assert resend.Domains.list()["data"] == []


def test_a_domain_is_added_once() -> None:
    added()
    with pytest.raises(ResendError, match=r"shop\.example\.com has the rsa key"):
        added()


@pytest.mark.parametrize("method", ["GET", "DELETE", "POST", "PATCH"])
def test_a_domain_of_another_project_is_not_found(site: Served, method: str) -> None:
    made = added()
    verify = "/verify" if method == "POST" else ""
    for domain_id in (made["id"], uuid4()):
        answer = requests.request(
            method,
            f"{site.url}/domains/{domain_id}{verify}",
            headers={"Authorization": f"Bearer {site.keys.other}"},
            timeout=60,
        )
        assert (answer.status_code, answer.json()["message"]) == (404, "Domain not found")
    assert [one["id"] for one in resend.Domains.list()["data"]] == [made["id"]]
