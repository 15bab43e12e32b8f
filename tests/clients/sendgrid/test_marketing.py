"""The published `sendgrid` library keeps contacts and their lists."""

import json
from typing import Any
from uuid import uuid4

import pytest
from python_http_client.exceptions import BadRequestsError, HTTPError, NotFoundError
from sendgrid import SendGridAPIClient

from tests.clients.serving import Served
from tests.rows import each_row

ANN, BOB = "ann@example.com", "bob@example.com"


@pytest.fixture
def marketing(site: Served) -> Any:
    for table in ("contacts", "contact_lists"):
        site.rows(f"DELETE FROM mailqueue.{table} RETURNING 1")
    return of(site, site.keys.live)


def of(site: Served, key: str) -> Any:
    return SendGridAPIClient(key, host=site.url).client.marketing


def read(response: Any) -> Any:
    return json.loads(response.body)


def put(marketing: Any, *contacts: dict[str, Any], **fields: Any) -> Any:
    return marketing.contacts.put(request_body={"contacts": list(contacts), **fields})


def found(marketing: Any, *emails: str) -> list[Any]:
    """Return the contacts of addresses."""
    result = read(marketing.contacts.search.emails.post(request_body={"emails": list(emails)}))
    return [result["result"][one]["contact"] for one in emails]


def test_contacts_are_added_changed_shown_and_removed(marketing: Any) -> None:
    news = read(marketing.lists.post(request_body={"name": "News & more"}))
    ann = {"email": ANN, "first_name": "Ann", "city": "Oslo", "custom_fields": {"plan": "pro"}}
    made = put(marketing, ann, {"email": BOB, "alternate_emails": ["b@example.com"]})
    again = put(
        marketing,
        {"email": ANN.upper(), "last_name": "Lee", "country": "NO"},
        list_ids=[news["id"]],
    )
    one, other = found(marketing, ANN, BOB)

    assert (made.status_code, again.status_code) == (202, 202)
    assert (one["first_name"], one["last_name"], one["city"]) == ("Ann", "Lee", "Oslo")
    assert (one["country"], one["custom_fields"]) == ("NO", {"plan": "pro"})
    assert (one["list_ids"], other["list_ids"]) == ([news["id"]], [])
    assert other["alternate_emails"] == ["b@example.com"]
    assert read(marketing.contacts._(one["id"]).get()) == one
    listed = read(marketing.contacts.get())
    assert sorted(listed["result"], key=lambda each: each["first_name"]) == [other, one]
    assert listed["contact_count"] == 2
    sought = marketing.contacts.search.identifiers.email
    by_address = read(sought.post(request_body={"identifiers": [ANN, "no@example.com"]}))["result"]
    assert by_address == {ANN: {"contact": one}, "no@example.com": {"error": "contact not found"}}
    batch = {"ids": [other["id"], str(uuid4()), one["id"]]}
    assert read(marketing.contacts.batch.post(request_body=batch))["result"] == [other, one]
    assert read(marketing.contacts.count.get())["contact_count"] == 2
    gone = marketing.contacts.delete(query_params={"ids": f"{one['id']},{uuid4()}"})
    assert (gone.status_code, read(marketing.contacts.count.get())["contact_count"]) == (202, 1)
    with pytest.raises(NotFoundError):
        found(marketing, ANN)


def test_lists_are_added_renamed_paged_and_removed(site: Served, marketing: Any) -> None:
    news, offers = (
        read(marketing.lists.post(request_body={"name": name})) for name in ("News", "Offers")
    )
    put(marketing, {"email": ANN}, {"email": BOB}, list_ids=[news["id"]])
    site.rows(
        "INSERT INTO mailqueue.contact_lists (project_id, name, condition, created_by)"
        " SELECT project_id, 'grown', '$.language == \"nb\"', 'tests'"
        " FROM mailqueue.contact_lists LIMIT 1 RETURNING 1"
    )
    one = marketing.lists._(news["id"])
    renamed = read(one.patch(request_body={"name": "Weekly"}))
    first = read(marketing.lists.get(query_params={"page_size": 1}))
    rest = {"page_size": 1, "page_token": offers["id"]}
    second = read(marketing.lists.get(query_params=rest))
    shown = read(one.get(query_params={"contact_sample": "true"}))

    assert (news["name"], news["contact_count"]) == ("News", 0)
    assert (renamed["name"], renamed["contact_count"]) == ("Weekly", 2)
    assert [first["result"], second["result"]] == [[offers], [renamed]]
    assert first["_metadata"]["next"].endswith(f"?page_size=1&page_token={offers['id']}")
    assert (first["_metadata"]["count"], "next" in second["_metadata"]) == (2, False)
    assert {each["email"] for each in shown["contact_sample"]} == {ANN, BOB}
    with pytest.raises(BadRequestsError) as taken:
        marketing.lists.post(request_body={"name": "Weekly"})
    assert taken.value.to_dict["errors"][0]["field"] == "name"
    left = one.contacts.delete(query_params={"contact_ids": found(marketing, ANN)[0]["id"]})
    assert left.status_code == 202
    assert read(one.contacts.count.get())["contact_count"] == 1
    assert one.delete().status_code == 204
    with pytest.raises(NotFoundError):
        one.get()
    assert read(marketing.contacts.count.get())["contact_count"] == 2, "its contacts stay"


@each_row(
    "contact, field",
    [
        ({}, "contacts.1.email"),
        ({"email": "ann"}, "contacts.1.email"),
        ({"email": BOB, "first_name": "x" * 101}, "contacts.1"),
        ({"email": BOB, "custom_fields": {"city": "Oslo"}}, "contacts.1.custom_fields"),
        ({"email": BOB, "custom_fields": {"plan": ["a"]}}, "contacts.1.custom_fields.plan"),
        ({"email": BOB, "age": 7}, "contacts.1.age"),
    ],
)
def test_one_faulty_contact_is_named_and_none_is_added(
    marketing: Any, contact: dict[str, Any], field: str
) -> None:
    with pytest.raises(BadRequestsError) as refused:
        put(marketing, {"email": ANN}, contact)

    assert str(refused.value.to_dict["errors"][0]["field"]).startswith(field)
    assert read(marketing.contacts.count.get())["contact_count"] == 0


def test_what_cannot_be_is_refused_by_name(site: Served, marketing: Any) -> None:
    put(marketing, {"email": ANN})
    (one,) = found(marketing, ANN)
    contacts, lists, unknown = marketing.contacts, marketing.lists, str(uuid4())
    calls = {
        "delete_all_contacts": lambda: contacts.delete(
            query_params={"delete_all_contacts": "true"}
        ),
        "ids": contacts.delete,
        "identifier_type": lambda: contacts.search.identifiers.external_id.post(
            request_body={"identifiers": [ANN]}
        ),
        "identifiers.0": lambda: contacts.search.identifiers.email.post(
            request_body={"identifiers": ["ann"]}
        ),
        "page_token": lambda: lists.get(query_params={"page_token": unknown}),
    }
    for field, call in calls.items():
        with pytest.raises(BadRequestsError) as refused:
            call()
        assert refused.value.to_dict["errors"][0]["field"] == field
    for call in (
        lambda: put(marketing, {"email": BOB}, list_ids=[unknown]),
        lambda: contacts._(unknown).get(),
        lambda: of(site, site.keys.other).contacts._(one["id"]).get(),
        lambda: of(site, site.keys.test).contacts._(one["id"]).get(),
    ):
        with pytest.raises(HTTPError) as missing:
            call()
        assert missing.value.status_code == 404
    assert read(contacts.count.get())["contact_count"] == 1, "nothing is half-written"
