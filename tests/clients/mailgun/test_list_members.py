"""The published `mailgun` library manages the members of mailing lists."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from mailgun.client import Client

from mailqueue.contacts import lists
from tests.clients.mailgun.lists import (
    DEV,
    NAME,
    TABLES,
    added,
    addresses,
    followed,
    joined,
    stored,
)
from tests.clients.mailgun.mails import DOMAIN
from tests.clients.serving import Served


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


@pytest.fixture(autouse=True)
def without_lists(site: Served) -> None:
    for table in TABLES:
        site.rows(f"DELETE FROM mailqueue.{table} RETURNING 1")


def test_members_are_added_shown_changed_and_removed(site: Served, client: Client) -> None:
    added(client)
    bob = joined(
        client,
        "bar@example.org",
        subscribed=True,
        name="Bob Bar",
        description="Developer",
        vars='{"age": 26}',
    )
    assert bob == {
        "address": "bar@example.org",
        "name": "Bob Bar",
        "subscribed": True,
        "vars": {"age": 26},
    }
    where = {"domain": DOMAIN, "address": DEV, "member_address": "bar@example.org"}
    assert client.lists_members.get(**where).json() == {"member": bob}
    assert client.lists.get(domain=DOMAIN, address=DEV).json()["list"]["members_count"] == 1

    changed = client.lists_members.put(**where, data={"name": "Bob Bar 2", "vars": '{"age": 28}'})
    assert changed.json() == {
        "message": "Mailing list member has been updated",
        "member": bob | {"name": "Bob Bar 2", "vars": {"age": 28}},
    }
    moved = client.lists_members.put(**where, data={"address": "bob@example.org"}).json()["member"]
    assert moved["address"] == "bob@example.org"

    where["member_address"] = "bob@example.org"
    gone = client.lists_members.delete(**where).json()
    assert gone == {
        "message": "Mailing list member has been deleted",
        "member": {"address": "bob@example.org"},
    }
    missing = client.lists_members.get(**where)
    assert missing.status_code == 404
    assert "bob@example.org" in missing.json()["message"]
    assert stored(site) == [(NAME, None, None)]
    assert site.rows("SELECT email FROM mailqueue.contacts") == [("bob@example.org",)]


def test_a_member_is_added_once_unless_it_may_be_changed(client: Client) -> None:
    added(client)
    joined(client, "ann@example.org", name="Ann")
    again = client.lists_members.create(
        domain=DOMAIN, address=DEV, data={"address": "ANN@example.org", "name": "Other"}
    )

    assert again.status_code == 400
    assert "'address'" in again.json()["message"]
    assert joined(client, "ann@example.org", name="Anna", upsert="yes")["name"] == "Anna"


def test_the_pages_of_members_have_each_once(site: Served, client: Client) -> None:
    added(client)
    for number in range(5):
        joined(client, f"m{number}@example.org")

    page: Any = client.lists_members_pages.get(domain=DOMAIN, address=DEV, filters={"limit": 2})
    pages = [addresses(page)]
    while pages[-1]:
        page = followed(site, page.json()["paging"]["next"])
        pages.append(addresses(page))
    assert [len(one) for one in pages] == [2, 2, 1, 0]
    assert [each for one in pages for each in one] == [f"m{n}@example.org" for n in range(5)]
    skipped = client.lists_members.get(domain=DOMAIN, address=DEV, filters={"limit": 2, "skip": 3})
    assert (addresses(skipped), skipped.json()["total_count"]) == (pages[1][1:] + pages[2], 5)
    none = client.lists_members.get(domain=DOMAIN, address=DEV, filters={"subscribed": "no"})
    assert addresses(none) == []


def test_members_are_counted_up_to_a_limit(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    added(client)
    for number in range(4):
        joined(client, f"m{number}@example.org")
    monkeypatch.setattr(lists, "MAX_SIZE", 3)

    listed = client.lists_members.get(domain=DOMAIN, address=DEV)
    shown = client.lists.get(domain=DOMAIN, address=DEV).json()["list"]
    assert (len(addresses(listed)), listed.json()["total_count"]) == (4, 3)
    assert shown["members_count"] == 3


def test_far_members_are_not_skipped_to(client: Client) -> None:
    added(client)
    far = client.lists_members.get(domain=DOMAIN, address=DEV, filters={"skip": 1_001})

    assert far.status_code == 400
    assert "skip" in far.json()["message"]


def many(client: Client, members: Any, **fields: Any) -> Any:
    return client.lists_members.create(
        domain=DOMAIN,
        address=DEV,
        data={"members": members if isinstance(members, str) else json.dumps(members), **fields},
        multiple=True,
    )


def test_many_members_are_added_and_changed(site: Served, client: Client) -> None:
    added(client)
    joined(client, "bob2@example.com", name="Bob")
    members = [
        {"address": "Alice <alice@example.com>", "vars": {"age": 26}},
        {"name": "Bob1", "address": "bob2@example.com", "vars": {"age": 34}},
        "carl@example.com",
    ]
    kept = many(client, members)
    bob = client.lists_members.get(
        domain=DOMAIN, address=DEV, member_address="bob2@example.com"
    ).json()["member"]

    assert (kept.json()["message"], kept.json()["list"]["members_count"]) == (
        "Mailing list has been updated",
        3,
    )
    assert (bob["name"], bob["vars"]) == ("Bob", {})
    assert many(client, members, upsert=True).status_code == 200
    assert site.rows(
        "SELECT email, first_name, attributes FROM mailqueue.contacts ORDER BY email"
    ) == [
        ("alice@example.com", "Alice", {"age": 26}),
        ("bob2@example.com", "Bob1", {"age": 34}),
        ("carl@example.com", None, {}),
    ]


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ("{", "'members'"),
        ([], "'members'"),
        (["ann@example.org"] * 1_001, "'members'"),
        (["ann@example.org", 7], "'members.1'"),
        (["ann@example.org", {"name": "Bo"}], "'members.1.address'"),
        (["ann@example.org", "nobody"], "'members.1.address'"),
        (["ann@example.org", {"address": "b@example.org", "subscribed": False}], "subscribed'"),
        (["ann@example.org", {"address": "b@example.org", "vars": []}], "'members.1.vars'"),
        (["ann@example.org", {"address": "b@example.org", "vars": {"a": "\0"}}], "'members.1"),
        (["ann@example.org", {"address": "b@example.org", "name": "n" * 101}], "'members.1'"),
        (["ann@example.org", {"address": "b@example.org", "rank": 1}], "'members.1.rank'"),
    ],
)
def test_of_many_members_all_are_added_or_none(
    site: Served, client: Client, members: Any, named: str
) -> None:
    added(client)
    answer = many(client, members)

    assert answer.status_code == 400
    assert named in answer.json()["message"]
    assert stored(site) == [(NAME, None, None)]
    assert site.rows("SELECT email FROM mailqueue.contacts") == []


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"address": "nobody"}, "'address'"),
        ({"name": "Ann"}, "address"),
        ({"address": "ann@example.org", "subscribed": "no"}, "'subscribed'"),
        ({"address": "ann@example.org", "vars": "[]"}, "'vars'"),
        ({"address": "ann@example.org", "vars": '{"a": "\\u0000"}'}, "'vars'"),
        ({"address": "ann@example.org", "name": "n" * 101}, "'name'"),
        ({"address": "ann@example.org", "upsert": "perhaps"}, "'upsert'"),
        ({"address": "ann@example.org", "rank": "1"}, "rank"),
    ],
)
def test_an_invalid_member_is_named_and_not_added(
    site: Served, client: Client, data: Any, named: str
) -> None:
    added(client)
    answer = client.lists_members.create(domain=DOMAIN, address=DEV, data=data)

    assert answer.status_code == 400
    assert named in answer.json()["message"]
    assert site.rows("SELECT email FROM mailqueue.contacts") == []
