"""The published Python library of Resend reads and changes topics, and the choices of contacts."""

from typing import Any
from uuid import UUID

import pytest
import requests
import resend
from resend.exceptions import ResendError

from mailqueue.projects.model import Scope
from tests.clients.resend.people import ANN, added, empty
from tests.clients.serving import Served
from tests.clients.suppressing import stored

pytestmark = pytest.mark.usefixtures("resend_here")


@pytest.fixture(autouse=True)
def emptied(site: Served) -> None:
    empty(site)
    site.rows("DELETE FROM mailqueue.subscription_categories RETURNING 1")


def topic(name: str = "Weekly news", **fields: Any) -> str:
    given: Any = {"name": name, "default_subscription": "opt_in", **fields}
    return str(resend.Topics.create(given)["id"])


def choices(who: str = ANN) -> dict[str, str]:
    found: Any = resend.Contacts.Topics.list(email=who)
    return {one["name"]: one["subscription"] for one in found["data"]}


def test_a_topic_is_added_shown_changed_listed_and_removed(site: Served) -> None:
    made, other = topic(description="Once a week"), topic("7 tips")
    shown: Any = resend.Topics.get(made)
    page: Any = resend.Topics.list({"limit": 1})
    rest: Any = resend.Topics.list({"limit": 1, "after": page["data"][0]["id"]})
    past: Any = resend.Topics.list({"limit": 1, "after": rest["data"][0]["id"]})

    assert (shown["object"], shown["id"], shown["name"]) == ("topic", made, "Weekly news")
    assert (shown["description"], shown["default_subscription"]) == ("Once a week", "opt_in")
    assert [one["id"] for one in page["data"] + rest["data"]] == [other, made]
    assert (page["has_more"], rest["has_more"], past["data"]) == (True, False, [])
    slugs = site.rows("SELECT slug FROM mailqueue.subscription_categories ORDER BY id")
    assert slugs == [("weekly-news",), ("topic-7-tips",)]
    resend.Topics.update(made, {"name": "Daily news"})
    assert resend.Topics.get(made)["name"] == "Daily news"
    gone: Any = resend.Topics.remove(made)
    assert (gone["object"], gone["id"], gone["deleted"]) == ("topic", made, True)
    with pytest.raises(ResendError, match="Topic not found"):
        resend.Topics.get(made)


def test_topics_of_one_name_are_two_categories() -> None:
    assert topic() != topic()
    assert len(resend.Topics.list()["data"]) == 2


def test_a_category_that_cannot_be_left_is_no_topic(site: Served) -> None:
    headers = {"X-API-Key": site.keys.live}
    new: Any = {"slug": "receipts", "name": "Receipts", "is_required": True}
    requests.post(f"{site.url}/v1/categories", json=new, headers=headers, timeout=30)
    added()

    assert resend.Topics.list()["data"] == []
    assert choices() == {}


def test_a_contact_leaves_topics_and_comes_back(site: Served) -> None:
    news, tips = topic("News"), topic("Tips")
    made = added()
    assert choices() == {"News": "opt_in", "Tips": "opt_in"}
    changed: Any = resend.Contacts.Topics.update(
        {
            "id": made,
            "topics": [
                {"id": news, "subscription": "opt_out"},
                {"id": tips, "subscription": "opt_in"},
            ],
        }
    )

    assert changed["id"] == made
    assert choices() == {"News": "opt_out", "Tips": "opt_in"}
    assert stored(site) == {(ANN, "unsubscribed", "news")}
    back: Any = {"email": ANN, "topics": [{"id": news, "subscription": "opt_in"}]}
    resend.Contacts.Topics.update(back)
    assert stored(site) == set()


def test_a_contact_is_added_with_its_choices_or_not_at_all(site: Served) -> None:
    news = topic("News")
    added(topics=[{"id": news, "subscription": "opt_out"}])

    assert choices() == {"News": "opt_out"}
    with pytest.raises(ResendError, match="Topic not found"):
        added("new@example.org", topics=[{"id": str(UUID(int=7)), "subscription": "opt_out"}])
    assert len(resend.Contacts.list()["data"]) == 1


def test_adding_an_address_again_does_not_end_its_choice_to_leave(site: Served) -> None:
    news = topic("News")
    added(topics=[{"id": news, "subscription": "opt_out"}])
    added(topics=[{"id": news, "subscription": "opt_in"}])

    assert choices() == {"News": "opt_out"}
    assert stored(site) == {(ANN, "unsubscribed", "news")}


def test_choices_are_changed_all_or_none(site: Served) -> None:
    news, made = topic("News"), added()
    some: Any = [
        {"id": news, "subscription": "opt_out"},
        {"id": str(UUID(int=7)), "subscription": "opt_out"},
    ]
    with pytest.raises(ResendError, match="Topic not found"):
        resend.Contacts.Topics.update({"id": made, "topics": some})

    assert stored(site) == set()


def test_a_key_sees_and_changes_its_project_alone(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    news, made = topic("News"), added()
    monkeypatch.setattr(resend, "api_key", site.keys.other)
    own = added("own@example.org")
    leave: Any = [{"id": news, "subscription": "opt_out"}]
    calls: list[Any] = [
        lambda: resend.Topics.get(news),
        lambda: resend.Topics.update(news, {"name": "Mine"}),
        lambda: resend.Topics.remove(news),
        lambda: resend.Contacts.Topics.list(contact_id=made),
        lambda: resend.Contacts.Topics.update({"id": own, "topics": leave}),
        lambda: added("more@example.org", topics=leave),
    ]

    for call in calls:
        with pytest.raises(ResendError, match="not found") as caught:
            call()
        assert caught.value.code == 404
    assert resend.Topics.list()["data"] == []
    assert stored(site) == stored(site, "other") == set()


def test_choices_need_both_scopes_and_a_live_key(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    news, made = topic("News"), added()
    leave: Any = [{"id": news, "subscription": "opt_out"}]
    for scopes in ([Scope.SUPPRESSION_MANAGE], [Scope.CONTACTS_READ, Scope.CONTACTS_WRITE]):
        monkeypatch.setattr(resend, "api_key", site.key_with(*scopes))
        with pytest.raises(ResendError, match="lacks scope"):
            resend.Contacts.Topics.update({"id": made, "topics": leave})
        with pytest.raises(ResendError, match="lacks scope"):
            added("new@example.org", topics=leave)
    monkeypatch.setattr(resend, "api_key", site.keys.test)
    with pytest.raises(ResendError, match="lacks a live key"):
        topic()
    assert len(resend.Topics.list()["data"]) == 1
    assert stored(site) == set()


CANNOT: list[tuple[str, str, Any, str]] = [
    ("POST", "/topics", {}, "name"),
    ("POST", "/topics", {"name": "x"}, "default_subscription"),
    ("POST", "/topics", {"name": "x", "default_subscription": "opt_out"}, "default_subscription"),
    ("POST", "/topics", {"name": 7, "default_subscription": "opt_in"}, "name"),
    ("POST", "/topics", {"name": " ", "default_subscription": "opt_in"}, "name"),
    ("POST", "/topics", {"name": "Transactional", "default_subscription": "opt_in"}, "name"),
    ("POST", "/topics", {"name": "x" * 101, "default_subscription": "opt_in"}, "name"),
    ("POST", "/topics", {"name": "a\0b", "default_subscription": "opt_in"}, "name"),
    (
        "POST",
        "/topics",
        {"name": "x", "default_subscription": "opt_in", "visibility": "private"},
        "visibility",
    ),
    ("GET", "/topics?limit=0", None, "limit"),
    ("PATCH", f"/contacts/{ANN}/topics", {}, "topics"),
    ("PATCH", f"/contacts/{ANN}/topics", [], "topics"),
    ("PATCH", f"/contacts/{ANN}/topics", [{"id": "x", "subscription": "opt_in"}], "topics"),
    ("PATCH", f"/contacts/{ANN}/topics", [{"id": str(UUID(int=7)), "subscription": 1}], "topics"),
]


@pytest.mark.parametrize(("method", "path", "body", "named"), CANNOT)
def test_what_is_invalid_is_named_and_adds_nothing(
    site: Served, method: str, path: str, body: Any, named: str
) -> None:
    headers = {"Authorization": f"Bearer {site.keys.live}"}
    answer = requests.request(method, site.url + path, json=body, headers=headers, timeout=30)

    assert answer.status_code == 422, answer.text
    assert named in answer.json()["message"]
    assert resend.Topics.list()["data"] == []
