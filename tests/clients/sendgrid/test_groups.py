"""The published `sendgrid` library reads and changes unsubscribe groups."""

import json
from typing import Any

import pytest
import requests
from python_http_client.exceptions import ForbiddenError, HTTPError, NotFoundError
from sendgrid import SendGridAPIClient

from mailqueue.api.compat.suppressed import lists, store
from tests.clients.serving import Served
from tests.clients.suppressing import fill, put, stored


@pytest.fixture(autouse=True)
def emptied(site: Served) -> None:
    site.rows("DELETE FROM mailqueue.subscription_categories RETURNING 1")
    fill(site)


@pytest.fixture
def client(site: Served) -> Any:
    return SendGridAPIClient(site.keys.live, host=site.url).client


def read(response: Any) -> Any:
    return json.loads(response.body)


def added(client: Any, name: str = "News", **fields: Any) -> Any:
    body = {"name": name, "description": "Once a month", **fields}
    return read(client.asm.groups.post(request_body=body))


def test_a_group_is_added_shown_changed_listed_and_removed(client: Any) -> None:
    made = added(client, is_default=False)
    other = added(client, "Offers")
    one = client.asm.groups._(made["id"])
    changed = one.patch(request_body={"id": made["id"], "name": "Monthly news"})

    assert (made["name"], made["description"], made["is_default"]) == (
        "News",
        "Once a month",
        False,
    )
    assert changed.status_code == 201
    assert read(one.get()) == read(changed) == {**made, "name": "Monthly news"}
    assert {each["id"] for each in read(client.asm.groups.get())} == {made["id"], other["id"]}
    chosen = client.asm.groups.get(query_params={"id": other["id"]})
    assert read(chosen) == [other]
    assert one.delete().status_code == 204
    with pytest.raises(NotFoundError):
        one.get()
    assert read(client.asm.groups.get()) == [other]


def test_a_group_is_a_category_of_the_preference_centre(site: Served, client: Any) -> None:
    made = added(client)

    found = site.rows("SELECT slug, name, description FROM mailqueue.subscription_categories")
    assert found == [(f"asm-{made['id']}", "News", "Once a month")]


def test_a_category_of_another_name_is_no_group(site: Served, client: Any) -> None:
    headers = {"X-API-Key": site.keys.live}
    for slug in ("news", "asm-weekly", "asm-007", "asm-00", "asm-99999999999"):
        new = {"slug": slug, "name": "News"}
        url = f"{site.url}/v1/categories"
        assert requests.post(url, json=new, headers=headers, timeout=30).status_code == 201

    assert read(client.asm.groups.get()) == []
    for number in ("weekly", "007", "7", "99999999999"):
        with pytest.raises(NotFoundError):
            client.asm.groups._(number).get()
    assert read(client.asm.suppressions._("ann@example.org").get()) == {"suppressions": []}


def test_the_groups_of_an_address_say_which_it_left(site: Served, client: Any) -> None:
    news, offers = added(client), added(client, "Offers")
    client.asm.groups._(news["id"]).suppressions.post(
        request_body={"recipient_emails": ["ann@example.org"]}
    )

    shown = read(client.asm.suppressions._("Ann@Example.org").get())["suppressions"]
    assert {one["id"]: one["suppressed"] for one in shown} == {
        news["id"]: True,
        offers["id"]: False,
    }
    stranger = read(client.asm.suppressions._("stranger@example.org").get())["suppressions"]
    assert not any(one["suppressed"] for one in stranger)
    assert ("ann@example.org", "unsubscribed", f"asm-{news['id']}") in stored(site)


def test_addresses_of_a_group_are_found_among_those_asked_for(client: Any) -> None:
    group = client.asm.groups._(added(client)["id"])
    group.suppressions.post(request_body={"recipient_emails": ["a@example.org", "b@example.org"]})
    asked = ["B@example.org", "c@example.org", "a@example.org", "a@example.org"]

    found = group.suppressions.search.post(request_body={"recipient_emails": asked})
    assert read(found) == ["B@example.org", "a@example.org"]


def test_suppressions_of_all_groups_are_listed_with_their_group(client: Any) -> None:
    news, offers = added(client), added(client, "Offers")
    for one in (news, offers):
        client.asm.groups._(one["id"]).suppressions.post(
            request_body={"recipient_emails": ["a@example.org", f"{one['name']}@example.org"]}
        )

    found = read(client.asm.suppressions.get())
    assert {(one["email"], one["group_id"], one["group_name"]) for one in found} == {
        ("a@example.org", news["id"], "News"),
        ("news@example.org", news["id"], "News"),
        ("a@example.org", offers["id"], "Offers"),
        ("offers@example.org", offers["id"], "Offers"),
    }
    assert len(found) == 4
    assert all(one["created_at"] > 1_700_000_000 for one in found)


def test_suppressions_of_many_groups_are_read_once_in_pages(
    site: Served, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = [added(client, f"Group {n}")["id"] for n in range(4)]
    for number in groups:
        put(site, f"of-{number}@example.org", "unsubscribed", category=f"asm-{number}")
    pages = list[int | None]()
    real = store.list_in_categories

    async def counted(*args: Any, older_than: int | None, **more: Any) -> Any:
        pages.append(older_than)
        return await real(*args, older_than=older_than, **more)

    monkeypatch.setattr(store, "list_in_categories", counted)
    monkeypatch.setattr(lists, "_PAGE_ROWS", 3)

    found = read(client.asm.suppressions.get())
    assert [one["group_id"] for one in found] == groups[::-1]
    assert len(pages) == 2


def test_without_groups_there_are_no_suppressions_of_groups(client: Any) -> None:
    assert read(client.asm.suppressions.get()) == []
    assert read(client.asm.suppressions._("asm@example.org").get()) == {"suppressions": []}


def test_a_removed_group_keeps_its_suppressions(site: Served, client: Any) -> None:
    group = client.asm.groups._(added(client)["id"])
    group.suppressions.post(request_body={"recipient_emails": ["a@example.org"]})
    group.delete()

    assert read(group.suppressions.get()) == ["a@example.org"]


def test_a_key_sees_and_changes_the_groups_of_its_project_alone(site: Served, client: Any) -> None:
    made = added(client)
    put(site, "theirs@example.org", "unsubscribed", category=f"asm-{made['id']}")
    other = SendGridAPIClient(site.keys.other, host=site.url).client
    one = other.asm.groups._(made["id"])

    for call in (one.get, one.delete, lambda: one.patch(request_body={"name": "Mine"})):
        with pytest.raises(NotFoundError):
            call()
    asked = {"recipient_emails": ["theirs@example.org"]}
    assert read(one.suppressions.search.post(request_body=asked)) == []
    assert read(other.asm.groups.get()) == read(other.asm.suppressions.get()) == []
    assert read(client.asm.groups._(made["id"]).get())["name"] == "News"


def test_a_key_without_the_scope_is_refused_and_a_test_key_only_reads(
    site: Served, client: Any
) -> None:
    made = added(client)
    reads = SendGridAPIClient(site.keys.reads, host=site.url).client
    tests = SendGridAPIClient(site.keys.test, host=site.url).client

    for call in (reads.asm.groups.get, reads.asm.suppressions.get):
        with pytest.raises(ForbiddenError):
            call()
    assert read(tests.asm.groups.get()) == [made]
    with pytest.raises(ForbiddenError):
        added(tests)
    with pytest.raises(ForbiddenError):
        tests.asm.groups._(made["id"]).delete()


CANNOT: list[tuple[str, Any, str]] = [
    ("", {}, "name"),
    ("", {"name": ""}, "name"),
    ("", {"name": 7}, "name"),
    ("", {"name": "x" * 101}, "name"),
    ("", {"name": "a\0b"}, "name"),
    ("", {"name": " "}, "name"),
    ("", {"name": "x", "description": "d" * 301}, "description"),
    ("", {"name": "x", "is_default": True}, "is_default"),
    ("", {"name": "x", "is_default": "yes"}, "is_default"),
    ("", {"name": "x", "color": "red"}, "color"),
    ("/7/suppressions/search", {"recipient_emails": []}, "recipient_emails"),
    ("/7/suppressions/search", {"recipient_emails": ["stranger"]}, "recipient_emails"),
    ("/7/suppressions/search", {"recipient_emails": "a@example.org"}, "recipient_emails"),
    ("/7/suppressions/search", {"recipient_emails": ["a@example.org"] * 1001}, "recipient_emails"),
]


@pytest.mark.parametrize(("path", "body", "named"), CANNOT)
def test_what_is_invalid_is_named_and_adds_nothing(
    site: Served, client: Any, path: str, body: Any, named: str
) -> None:
    url, headers = f"{site.url}/v3/asm/groups{path}", {"Authorization": f"Bearer {site.keys.live}"}
    answer = requests.post(url, json=body, headers=headers, timeout=30)

    assert answer.status_code == 400, answer.text
    assert answer.json()["errors"][0]["field"].startswith(named)
    assert read(client.asm.groups.get()) == []


@pytest.mark.parametrize("number", ["x", "-1", "99999999999", "%00", "7", "%D9%A3"])
def test_a_group_that_is_not_there_is_not_found(client: Any, number: str) -> None:
    with pytest.raises(HTTPError) as caught:
        client.asm.groups._(number).get()
    assert caught.value.status_code == 404
