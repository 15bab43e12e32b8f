"""The published `mailgun` library manages mailing lists."""

from collections.abc import Iterator
from typing import Any

import pytest
from mailgun.client import Client

from mailqueue.projects.model import Scope
from tests.clients.keys import key_with
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
from tests.clients.mailgun.mails import DOMAIN, HI, email_of
from tests.clients.serving import Served


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


@pytest.fixture(autouse=True)
def without_lists(site: Served) -> None:
    for table in TABLES:
        site.rows(f"DELETE FROM mailqueue.{table} RETURNING 1")


def test_a_list_is_added_shown_changed_and_removed(site: Served, client: Client) -> None:
    made = added(client, name="Developers", description="All of us")
    shown = client.lists.get(domain=DOMAIN, address=DEV).json()["list"]
    assert shown == made
    assert {**made, "created_at": None} == {
        "address": DEV,
        "name": "Developers",
        "description": "All of us",
        "access_level": "readonly",
        "reply_preference": "sender",
        "members_count": 0,
        "created_at": None,
    }
    assert stored(site) == [(NAME, "Developers · All of us", None)]

    changed = client.lists.put(domain=DOMAIN, address=DEV, data={"description": "Some"}).json()
    assert changed["message"] == "Mailing list has been updated"
    assert (changed["list"]["name"], changed["list"]["description"]) == ("Developers", "Some")

    gone = client.lists.delete(domain=DOMAIN, address=DEV).json()
    assert gone == {"message": "Mailing list has been removed", "address": DEV}
    missing = client.lists.get(domain=DOMAIN, address=DEV)
    assert (missing.status_code, missing.json()) == (
        404,
        {"message": f"Mailing list {DEV} not found"},
    )
    assert stored(site) == []


@pytest.mark.parametrize("texts", [("", "Only this"), ("Name", ""), ("", ""), ("Name", "And this")])
def test_name_and_description_are_those_that_were_given(
    client: Client, texts: tuple[str, str]
) -> None:
    made = added(client, name=texts[0], description=texts[1])

    assert (made["name"], made["description"]) == texts


def test_the_urls_of_pages_lead_through_all_lists_and_back(site: Served, client: Client) -> None:
    for number in range(5):
        added(client, f"l{number}@{DOMAIN}")
    site.rows(
        "INSERT INTO mailqueue.contact_lists (project_id, name, created_by)"
        " SELECT id, 'customers', 'test' FROM mailqueue.projects WHERE name = 'default' RETURNING 1"
    )

    page: Any = client.lists_pages.get(domain=DOMAIN, filters={"limit": 2})
    pages = [addresses(page)]
    while pages[-1]:
        page = followed(site, page.json()["paging"]["next"])
        pages.append(addresses(page))
    assert pages == [
        [f"l0@{DOMAIN}", f"l1@{DOMAIN}"],
        [f"l2@{DOMAIN}", f"l3@{DOMAIN}"],
        [f"l4@{DOMAIN}"],
        [],
    ]
    last = followed(site, page.json()["paging"]["last"])
    assert addresses(last) == [f"l3@{DOMAIN}", f"l4@{DOMAIN}"]
    assert addresses(followed(site, last.json()["paging"]["previous"])) == [
        f"l1@{DOMAIN}",
        f"l2@{DOMAIN}",
    ]
    skipped = followed(site, f"{site.url}/v3/lists?limit=2&skip=3")
    assert (addresses(skipped), skipped.json()["total_count"]) == (
        [f"l3@{DOMAIN}", f"l4@{DOMAIN}"],
        5,
    )
    assert addresses(followed(site, f"{site.url}/v3/lists?address=l2@{DOMAIN}")) == [f"l2@{DOMAIN}"]


def test_a_page_has_ten_lists_whose_members_are_counted(site: Served, client: Client) -> None:
    names = [f"l{number:02}@{DOMAIN}" for number in range(11)]
    for name in names:
        added(client, name)

    page: Any = client.lists_pages.get(domain=DOMAIN, filters={"limit": 100})
    assert addresses(page) == names[:10]
    assert addresses(followed(site, page.json()["paging"]["next"])) == names[10:]
    listed = followed(site, f"{site.url}/v3/lists")
    assert (addresses(listed), listed.json()["total_count"]) == (names[:10], 11)
    refused = followed(site, f"{site.url}/v3/lists?limit=11")
    assert refused.status_code == 400
    assert "limit" in refused.json()["message"]


@pytest.mark.parametrize(
    ("data", "status", "named"),
    [
        ({"address": "nobody"}, 400, "'address'"),
        ({"address": f"dev.team@{DOMAIN}"}, 400, "'address'"),
        ({"address": f"{'d' * 60}@{DOMAIN}"}, 400, "'address'"),
        ({"name": "Dev"}, 400, "address"),
        ({"address": DEV, "access_level": "everyone"}, 400, "'access_level'"),
        ({"address": DEV, "reply_preference": "list"}, 400, "'reply_preference'"),
        ({"address": DEV, "description": "a · b"}, 400, "description"),
        ({"address": DEV, "description": "d" * 501}, 400, "description"),
        ({"address": DEV, "members": "x"}, 400, "members"),
    ],
)
def test_what_is_invalid_is_named_and_adds_nothing(
    site: Served, client: Client, data: Any, status: int, named: str
) -> None:
    answer = client.lists.create(domain=DOMAIN, data=data)

    assert answer.status_code == status
    assert named in answer.json()["message"]
    assert stored(site) == []


def test_a_list_is_added_once(site: Served, client: Client) -> None:
    added(client)
    again = client.lists.create(domain=DOMAIN, data={"address": DEV.upper()})

    assert again.status_code == 400
    assert DEV in again.json()["message"]
    assert len(stored(site)) == 1


def test_mail_to_a_list_is_refused_and_names_how_it_is_sent(client: Client, site: Served) -> None:
    before = site.count()
    sent = client.messages.create(domain=DOMAIN, data={**HI, "to": DEV})
    added(client)
    refused = client.messages.create(domain=DOMAIN, data={**HI, "to": f"Dev <{DEV}>"})
    copied = client.messages.create(domain=DOMAIN, data={**HI, "cc": DEV})

    assert email_of(site, sent)["to"] == DEV
    assert (refused.status_code, copied.status_code) == (400, 400)
    assert NAME in refused.json()["message"]
    assert "'cc'" in copied.json()["message"]
    assert site.count() == before + 1


def test_a_key_sees_the_lists_of_its_project_and_mode_alone(site: Served, client: Client) -> None:
    added(client)
    joined(client, "ann@example.org")
    for key in (site.keys.other, site.keys.test):
        with Client(auth=("api", key), api_url=site.url) as other:
            assert addresses(other.lists_pages.get(domain=DOMAIN)) == []
            where = {"domain": DOMAIN, "address": DEV}
            answers = [
                other.lists.get(**where),
                other.lists.put(**where, data={"name": "Stolen"}),
                other.lists.delete(**where),
                other.lists_members.get(**where),
                other.lists_members.get(**where, member_address="ann@example.org"),
                other.lists_members.delete(**where, member_address="ann@example.org"),
                other.lists_members.create(**where, data={"address": "bo@example.org"}),
            ]
            assert [one.status_code for one in answers] == [404] * len(answers)
    assert stored(site) == [(NAME, None, ["ann@example.org"])]


def test_a_key_needs_the_scopes_of_contacts(site: Served) -> None:
    with Client(auth=("api", key_with(site, Scope.EMAIL_SEND)), api_url=site.url) as sends:
        listed = sends.lists_pages.get(domain=DOMAIN)
        made = sends.lists.create(domain=DOMAIN, data={"address": DEV})

    assert (listed.status_code, made.status_code) == (403, 403)
    assert "contacts:read" in listed.json()["message"]
    assert "contacts:write" in made.json()["message"]
