"""The published Python library of Resend reads and changes contacts."""

from typing import Any
from uuid import UUID

import pytest
import requests
import resend
from resend.exceptions import ResendError

from mailqueue.projects.model import Scope
from tests.clients.resend.people import ANN, added, addresses, empty, segment
from tests.clients.serving import Served
from tests.clients.suppressing import put, stored

pytestmark = pytest.mark.usefixtures("resend_here")


@pytest.fixture(autouse=True)
def emptied(site: Served) -> None:
    empty(site)


def test_a_contact_is_added_shown_changed_and_removed_by_id_or_address() -> None:
    properties = {"plan": "pro", "seats": 3, "paid": True}
    made = added(first_name="Ann", last_name="Lee", unsubscribed=False, properties=properties)
    shown: Any = resend.Contacts.get(email=ANN)

    assert (shown["object"], shown["id"], shown["email"]) == ("contact", made, ANN)
    assert (shown["first_name"], shown["last_name"]) == ("Ann", "Lee")
    assert shown["unsubscribed"] is False
    assert shown["properties"] == {
        "paid": {"type": "boolean", "value": True},
        "plan": {"type": "string", "value": "pro"},
        "seats": {"type": "number", "value": 3},
    }
    resend.Contacts.update({"id": made, "first_name": "Anna", "properties": {"plan": None}})
    changed: Any = resend.Contacts.get(id=made)
    assert (changed["first_name"], changed["last_name"]) == ("Anna", "Lee")
    assert set(changed["properties"]) == {"paid", "seats"}
    gone: Any = resend.Contacts.remove(email=ANN)
    assert (gone["id"], gone["contact"], gone["deleted"]) == (made, made, True)
    with pytest.raises(ResendError, match="Contact not found"):
        resend.Contacts.get(id=made)


def test_adding_an_address_again_changes_its_contact() -> None:
    first = added(first_name="Ann", last_name="Lee")
    again = added("Ann@Example.org", first_name="")
    shown: Any = resend.Contacts.get(id=first)

    assert again == first
    assert (shown["first_name"], shown["last_name"]) == (None, "Lee")


def test_pages_have_each_contact_once_newest_first_in_both_directions() -> None:
    every = [f"p{number}@example.org" for number in range(5)]
    for one in every:
        added(one)
    first: Any = resend.Contacts.list(params={"limit": 2})
    second: Any = resend.Contacts.list(params={"limit": 2, "after": first["data"][-1]["id"]})
    last: Any = resend.Contacts.list(params={"limit": 2, "after": second["data"][-1]["id"]})
    past: Any = resend.Contacts.list(params={"limit": 2, "after": last["data"][-1]["id"]})
    back: Any = resend.Contacts.list(params={"limit": 2, "before": last["data"][0]["id"]})
    whole: Any = resend.Contacts.list()

    pages = [first, second, last]
    assert [one for page in pages for one in addresses(page)] == every[::-1] == addresses(whole)
    assert [page["has_more"] for page in pages] == [True, True, False]
    assert (past["data"], past["has_more"]) == ([], False)
    assert (addresses(back), back["has_more"]) == (addresses(second), True)


def test_unsubscribing_a_contact_stops_all_that_can_be_unsubscribed_from(site: Served) -> None:
    made = added(unsubscribed=True)

    assert stored(site) == {(ANN, "unsubscribed", "*")}
    assert resend.Contacts.get(id=made)["unsubscribed"] is True
    assert resend.Contacts.list()["data"][0]["unsubscribed"] is True
    resend.Contacts.update({"id": made, "unsubscribed": False})
    assert stored(site) == set()
    assert resend.Contacts.get(id=made)["unsubscribed"] is False


def test_adding_an_address_again_does_not_subscribe_who_unsubscribed(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = added(unsubscribed=True)

    assert added(unsubscribed=False, first_name="Ann") == made
    monkeypatch.setattr(resend, "api_key", site.key_with(Scope.CONTACTS_WRITE))
    assert added(unsubscribed=False) == made
    assert stored(site) == {(ANN, "unsubscribed", "*")}


def test_an_address_that_bounced_is_not_shown_as_unsubscribed(site: Served) -> None:
    made = added()
    put(site, ANN, "hard_bounce")

    assert resend.Contacts.get(id=made)["unsubscribed"] is False
    resend.Contacts.update({"id": made, "unsubscribed": False})
    assert stored(site) == {(ANN, "hard_bounce", "")}


def test_a_key_without_suppressions_neither_sees_nor_changes_who_unsubscribed(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = added(unsubscribed=True)
    key = site.key_with(Scope.CONTACTS_READ, Scope.CONTACTS_WRITE)
    monkeypatch.setattr(resend, "api_key", key)

    assert resend.Contacts.get(id=made)["unsubscribed"] is None
    with pytest.raises(ResendError, match="lacks scope suppression:manage"):
        resend.Contacts.update({"id": made, "first_name": "Eve", "unsubscribed": False})
    with pytest.raises(ResendError, match="lacks scope suppression:manage"):
        added("new@example.org", unsubscribed=True)
    assert resend.Contacts.get(id=made)["first_name"] is None
    assert addresses(resend.Contacts.list()) == [ANN]
    assert stored(site) == {(ANN, "unsubscribed", "*")}


def test_a_key_without_suppressions_gets_one_answer_whether_its_person_unsubscribed_or_not(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changes nothing would tell what there is."""
    people = [added(unsubscribed=True), added("bob@example.org")]
    key = site.key_with(Scope.CONTACTS_READ, Scope.CONTACTS_WRITE)
    monkeypatch.setattr(resend, "api_key", key)

    for one in people:
        for value in (True, False):
            with pytest.raises(ResendError, match="lacks scope suppression:manage"):
                resend.Contacts.update({"id": one, "unsubscribed": value})
    assert stored(site) == {(ANN, "unsubscribed", "*")}


def test_a_test_key_has_contacts_of_its_own_and_unsubscribes_none(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    added()
    monkeypatch.setattr(resend, "api_key", site.keys.test)

    assert addresses(resend.Contacts.list()) == []
    with pytest.raises(ResendError, match="lacks a live key"):
        added(unsubscribed=True)
    assert addresses(resend.Contacts.list()) == []
    added()
    assert addresses(resend.Contacts.list()) == [ANN]


def test_a_key_sees_and_changes_its_project_alone(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, news = added(), segment()
    monkeypatch.setattr(resend, "api_key", site.keys.other)
    own = added("own@example.org")
    calls: list[Any] = [
        lambda: resend.Contacts.get(id=made),
        lambda: resend.Contacts.get(email=ANN),
        lambda: resend.Contacts.update({"id": made, "first_name": "Eve"}),
        lambda: resend.Contacts.remove(id=made),
        lambda: resend.Contacts.Segments.list({"contact_id": made}),
        lambda: resend.Contacts.Segments.add({"contact_id": own, "segment_id": news}),
        lambda: resend.Contacts.Segments.remove({"contact_id": own, "segment_id": news}),
        lambda: resend.Contacts.list(segment_id=news),
        lambda: resend.Contacts.list(audience_id=news),
        lambda: added("more@example.org", segments=[{"id": news}]),
        lambda: resend.Contacts.create({"email": "more@example.org", "audience_id": news}),
        lambda: resend.Segments.get(news),
        lambda: resend.Segments.update(news, {"name": "Mine"}),
        lambda: resend.Segments.remove(news),
    ]

    for call in calls:
        with pytest.raises(ResendError, match="not found") as caught:
            call()
        assert caught.value.code == 404
    assert addresses(resend.Contacts.list()) == ["own@example.org"]
    assert resend.Segments.list()["data"] == []
    monkeypatch.setattr(resend, "api_key", site.keys.live)
    assert resend.Contacts.get(id=made)["first_name"] is None
    assert addresses(resend.Contacts.list(segment_id=news)) == []


def test_a_key_without_the_scope_is_refused(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resend, "api_key", site.keys.reads)
    with pytest.raises(ResendError, match="lacks scope contacts:read"):
        resend.Contacts.list()
    with pytest.raises(ResendError, match="lacks scope contacts:write"):
        segment()
    key = site.key_with(Scope.CONTACTS_READ)
    monkeypatch.setattr(resend, "api_key", key)
    assert resend.Segments.list()["data"] == []
    with pytest.raises(ResendError, match="lacks scope contacts:write"):
        added()


CANNOT: list[tuple[str, str, Any, str]] = [
    ("POST", "/contacts", {}, "email"),
    ("POST", "/contacts", [], ""),
    ("POST", "/contacts", {"email": 7}, "email"),
    ("POST", "/contacts", {"email": "unknown"}, "email"),
    ("POST", "/contacts", {"email": str(UUID(int=9))}, "email"),
    ("POST", "/contacts", {"email": "a\0b@example.org"}, "email"),
    ("POST", "/contacts", {"email": "a" * 400 + "@example.org"}, "email"),
    ("POST", "/contacts", {"email": ANN, "first_name": {}}, "first_name"),
    ("POST", "/contacts", {"email": ANN, "first_name": "x" * 101}, "first_name"),
    ("POST", "/contacts", {"email": ANN, "unsubscribed": "no"}, "unsubscribed"),
    ("POST", "/contacts", {"email": ANN, "properties": {"a": {"b": 1}}}, "properties"),
    ("POST", "/contacts", {"email": ANN, "properties": {"a": "x" * 20_000}}, "properties"),
    ("POST", "/contacts", {"email": ANN, "properties": 7}, "properties"),
    ("POST", "/contacts", {"email": ANN, "segments": [{"id": "x"}]}, "segments"),
    ("POST", "/contacts", {"email": ANN, "segments": "x"}, "segments"),
    ("POST", "/contacts", {"email": ANN, "unknown": 1}, "unknown"),
    ("POST", "/segments", {}, "name"),
    ("POST", "/segments", {"name": ""}, "name"),
    ("POST", "/segments", {"name": None}, "name"),
    ("POST", "/segments", {"name": "x" * 501}, "name"),
    ("POST", "/segments", {"name": "x", "filter": {}}, "filter"),
    ("GET", "/contacts?limit=0", None, "limit"),
    ("GET", "/contacts?limit=101", None, "limit"),
    ("GET", "/contacts?after=x", None, "after"),
    ("GET", f"/contacts?after={UUID(int=8)}&before={UUID(int=9)}", None, "before"),
    ("GET", "/segments?limit=ten", None, "limit"),
]


@pytest.mark.parametrize(("method", "path", "body", "named"), CANNOT)
def test_what_is_invalid_is_named_and_adds_nothing(
    site: Served, method: str, path: str, body: Any, named: str
) -> None:
    headers = {"Authorization": f"Bearer {site.keys.live}"}
    answer = requests.request(method, site.url + path, json=body, headers=headers, timeout=30)

    assert answer.status_code == 422, answer.text
    assert named in answer.json()["message"]
    assert resend.Contacts.list()["data"] == []
    assert resend.Segments.list()["data"] == []


@pytest.mark.parametrize("who", ["x", str(UUID(int=7)), "unknown@example.org", "%00", "a%0Ab@c.de"])
def test_a_contact_that_is_not_there_is_not_found(site: Served, who: str) -> None:
    headers = {"Authorization": f"Bearer {site.keys.live}"}
    for method in ("GET", "PATCH", "DELETE"):
        url = f"{site.url}/contacts/{who}"
        answer = requests.request(method, url, json={}, headers=headers, timeout=30)
        assert (answer.status_code, answer.json()["name"]) == (404, "not_found"), answer.text
