"""The published Python library of Resend reads and changes segments and who is in them."""

from typing import Any

import pytest
import requests
import resend
from resend.exceptions import ResendError

from tests.clients.resend.people import ANN, added, addresses, empty, segment
from tests.clients.serving import Served

pytestmark = pytest.mark.usefixtures("resend_here")


@pytest.fixture(autouse=True)
def emptied(site: Served) -> None:
    empty(site)


def test_a_segment_is_added_renamed_listed_and_removed(site: Served) -> None:
    made: Any = resend.Segments.create({"name": "Monthly news!"})
    other = segment("Monthly news!")
    resend.Segments.update(made["id"], {"name": "Weekly news"})
    shown: Any = resend.Segments.get(made["id"])
    page: Any = resend.Segments.list({"limit": 1})
    rest: Any = resend.Segments.list({"limit": 1, "after": other})
    past: Any = resend.Segments.list({"limit": 1, "after": made["id"]})

    assert (made["object"], made["name"]) == ("segment", "Monthly news!")
    assert (shown["object"], shown["name"]) == ("segment", "Weekly news")
    assert ([one["id"] for one in page["data"]], page["has_more"]) == ([other], True)
    assert ([one["id"] for one in rest["data"]], rest["has_more"]) == ([made["id"]], False)
    assert (past["data"], past["has_more"]) == ([], False)
    names = [name for (name,) in site.rows("SELECT name FROM mailqueue.contact_lists ORDER BY id")]
    assert names[0] == "monthly-news"
    assert names[1].startswith("monthly-news-")
    gone: Any = resend.Segments.remove(made["id"])
    assert (gone["object"], gone["id"], gone["deleted"]) == ("segment", made["id"], True)
    with pytest.raises(ResendError, match="Segment not found"):
        resend.Segments.get(made["id"])


@pytest.mark.parametrize(
    ("name", "short"),
    [("Новости", "segment"), ("Café à la carte", "cafe-a-la-carte"), ("-", "segment")],
)
def test_a_segment_in_any_script_has_a_list_with_a_plain_name(
    site: Served, name: str, short: str
) -> None:
    made: Any = resend.Segments.get(segment(name))

    assert made["name"] == name
    assert site.rows("SELECT name FROM mailqueue.contact_lists") == [(short,)]


def test_contacts_are_added_to_segments_and_removed_from_them() -> None:
    news, offers = segment("News"), segment("Offers")
    made = added(segments=[{"id": news}])
    resend.Contacts.Segments.add({"segment_id": offers, "email": ANN})
    theirs: Any = resend.Contacts.Segments.list({"contact_id": made})
    inside: Any = resend.Contacts.list(segment_id=offers)

    assert [one["name"] for one in theirs["data"]] == ["Offers", "News"]
    assert theirs["has_more"] is False
    assert addresses(inside) == [ANN]
    gone: Any = resend.Contacts.Segments.remove({"segment_id": news, "contact_id": made})
    assert (gone["id"], gone["deleted"]) == (news, True)
    assert addresses(resend.Contacts.list(segment_id=news)) == []
    assert resend.Contacts.get(id=made)["email"] == ANN


def test_pages_of_a_segment_have_each_contact_once() -> None:
    news = segment()
    every = [f"p{number}@example.org" for number in range(5)]
    for one in every:
        added(one, segments=[{"id": news}])
    added("outside@example.org")
    seen: list[str] = []
    page: Any = resend.Contacts.list(segment_id=news, params={"limit": 2})
    while page["data"]:
        seen += addresses(page)
        last = page["data"][-1]["id"]
        page = resend.Contacts.list(segment_id=news, params={"limit": 2, "after": last})

    assert seen == every
    assert page["has_more"] is False
    with pytest.raises(ResendError, match="before"):
        resend.Contacts.list(segment_id=news, params={"before": news})


def test_the_older_paths_of_audiences_reach_the_contacts_of_a_segment(site: Served) -> None:
    headers = {"Authorization": f"Bearer {site.keys.live}"}
    url, new = f"{site.url}/audiences", {"name": "Friends"}
    audience = requests.post(url, json=new, headers=headers, timeout=30).json()
    other = segment("Others")
    made: Any = resend.Contacts.create(
        {"email": ANN, "audience_id": audience["id"], "first_name": "Ann"}
    )
    added("outside@example.org")
    path = f"{url}/{audience['id']}"
    shown = requests.get(path, headers=headers, timeout=30).json()

    assert (shown["object"], shown["name"]) == ("audience", "Friends")
    assert addresses(resend.Contacts.list(audience_id=audience["id"])) == [ANN]
    resend.Contacts.update({"audience_id": audience["id"], "id": made["id"], "last_name": "Lee"})
    assert resend.Contacts.get(audience["id"], email=ANN)["last_name"] == "Lee"
    for call in (resend.Contacts.get, resend.Contacts.remove):
        with pytest.raises(ResendError, match="Contact not found"):
            call(other, email=ANN)
    resend.Contacts.remove(audience["id"], email=ANN)
    assert addresses(resend.Contacts.list(audience_id=audience["id"])) == []
    assert resend.Contacts.get(email=ANN)["id"] == made["id"]
    removed = requests.delete(path, headers=headers, timeout=30).json()
    assert (removed["object"], removed["deleted"]) == ("audience", True)


def test_a_condition_decides_alone_who_is_in_a_segment(site: Served) -> None:
    added("pro@example.org", properties={"plan": "pro"})
    added()
    headers = {"X-API-Key": site.keys.live}
    new = {"name": "pros", "condition": '$.attributes.plan == "pro"'}
    pros = requests.post(f"{site.url}/v1/lists", json=new, headers=headers, timeout=30).json()["id"]

    assert addresses(resend.Contacts.list(segment_id=pros)) == ["pro@example.org"]
    assert resend.Contacts.get(pros, email="pro@example.org")["email"] == "pro@example.org"
    with pytest.raises(ResendError, match="Contact not found"):
        resend.Contacts.get(pros, email=ANN)
    with pytest.raises(ResendError, match="a condition decides"):
        resend.Contacts.Segments.add({"segment_id": pros, "email": ANN})
    with pytest.raises(ResendError, match="a condition decides"):
        added("new@example.org", segments=[{"id": pros}])
    assert len(resend.Contacts.list()["data"]) == 2


def test_a_condition_that_fails_for_a_contact_does_not_select_it(site: Served) -> None:
    added(properties={"plan": "pro"})
    headers = {"X-API-Key": site.keys.live}
    new = {"name": "pros", "condition": "$.attributes.plan.double()"}
    pros = requests.post(f"{site.url}/v1/lists", json=new, headers=headers, timeout=30).json()["id"]

    assert addresses(resend.Contacts.list(segment_id=pros)) == []
    with pytest.raises(ResendError, match="Contact not found"):
        resend.Contacts.get(pros, email=ANN)


def test_a_condition_selects_none_that_did_not_consent_where_that_is_needed(site: Served) -> None:
    added(properties={"plan": "pro"})
    headers = {"X-API-Key": site.keys.live}
    new = {"name": "pros", "condition": '$.attributes.plan == "pro"', "opt_in": "recorded"}
    pros = requests.post(f"{site.url}/v1/lists", json=new, headers=headers, timeout=30).json()["id"]

    assert addresses(resend.Contacts.list(segment_id=pros)) == []
    with pytest.raises(ResendError, match="Contact not found"):
        resend.Contacts.get(pros, email=ANN)
