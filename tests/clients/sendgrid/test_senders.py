"""The published `sendgrid` library manages senders, within what the project allows."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from python_http_client.exceptions import BadRequestsError, HTTPError, NotFoundError
from sendgrid import SendGridAPIClient

from tests.clients.serving import Served
from tests.rows import each_row

ALLOWED = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING 1"
SHOP: dict[str, Any] = {
    "nickname": "Orders",
    "from": {"email": "Orders@Example.com", "name": "The shop"},
    "reply_to": {"email": "help@example.com", "name": "Help"},
    "address": "Storgata 1",
    "address_2": "",
    "city": "Oslo",
    "state": "",
    "zip": "0155",
    "country": "Norway",
}
VERIFIED: dict[str, Any] = {
    "nickname": "Orders",
    "from_email": "orders@example.com",
    "from_name": "The shop",
    "reply_to": "help@example.com",
    "reply_to_name": "Help",
    "address": "Storgata 1",
    "address2": "",
    "city": "Oslo",
    "state": "",
    "zip": "0155",
    "country": "Norway",
}


@pytest.fixture
def api(site: Served) -> Iterator[Any]:
    """Return the library's client of a project without senders."""
    site.rows("DELETE FROM mailqueue.project_rules RETURNING 1")
    yield of(site, site.keys.live)
    site.rows(ALLOWED, None)
    site.rows("DELETE FROM mailqueue.project_rules RETURNING 1")


def of(site: Served, key: str) -> Any:
    return SendGridAPIClient(key, host=site.url).client


def read(response: Any) -> Any:
    return json.loads(response.body)


@each_row("name", [("marketing",), ("senders",)])
def test_senders_are_added_changed_listed_and_removed(api: Any, name: str) -> None:
    senders = api.marketing.senders if name == "marketing" else api.senders
    answer = senders.post(request_body=SHOP)
    made = read(answer)
    one = senders._(made["id"])
    box = {"email": "orders@example.com", "name": "The shop"}

    assert (answer.status_code, made["verified"], made["locked"]) == (201, True, False)
    assert {key: made[key] for key in SHOP} == SHOP | {"from": box}
    assert read(one.get()) == made
    assert read(senders.get()) == [made]
    changed = read(one.patch(request_body={"city": "Bergen", "from": {"name": "Shop & Co"}}))
    assert (changed["id"], changed["city"], changed["zip"]) == (made["id"], "Bergen", "0155")
    assert changed["from"] == box | {"name": "Shop & Co"}
    assert changed["updated_at"] >= made["updated_at"] >= made["created_at"] > 1_700_000_000
    assert one.delete().status_code == 204
    assert read(senders.get()) == []
    with pytest.raises(NotFoundError):
        one.get()


def test_verified_senders_are_the_same_in_another_form(api: Any) -> None:
    answer = api.verified_senders.post(request_body=VERIFIED)
    made = read(answer)
    number = made["id"]
    other = read(
        api.verified_senders.post(
            request_body={"nickname": "B", "from_email": "b@example.com", "reply_to": "b@x.example"}
        )
    )

    assert answer.status_code == 201
    assert made == VERIFIED | {"id": number, "verified": True, "locked": False}
    assert read(api.senders._(number).get())["from"]["name"] == "The shop"
    assert read(api.verified_senders.get()) == {"results": [other, made]}
    first = {"limit": 1}
    assert read(api.verified_senders.get(query_params=first))["results"] == [other]
    rest = {"lastSeenID": other["id"]}
    assert read(api.verified_senders.get(query_params=rest))["results"] == [made]
    assert read(api.verified_senders.get(query_params={"id": number}))["results"] == [made]
    assert read(api.verified_senders.steps_completed.get())["results"]["sender_verified"] is True
    changed = read(api.verified_senders._(number).patch(request_body={"from_name": "Shop"}))
    assert (changed["from_name"], changed["reply_to"]) == ("Shop", "help@example.com")
    assert api.verified_senders._(number).delete().status_code == 204
    assert read(api.verified_senders.get())["results"] == [other]


def test_administrators_decide_which_addresses_are_senders(site: Served, api: Any) -> None:
    site.rows(ALLOWED, ["shop@example.com"])
    (named,) = read(api.senders.get())

    assert (named["from"]["email"], named["verified"]) == ("shop@example.com", True)
    assert refused(api.senders.post, SHOP) == "from.email"
    assert refused(api.verified_senders.post, VERIFIED) == "from_email"
    with pytest.raises(BadRequestsError) as kept:
        api.senders._(named["id"]).delete()
    assert kept.value.to_dict["errors"][0]["field"] == "id"
    changed = read(api.senders._(named["id"]).patch(request_body={"nickname": "Shop"}))
    assert (changed["id"], changed["nickname"]) == (named["id"], "Shop")
    site.rows(ALLOWED, ["other@example.com"])
    assert {one["from"]["email"]: one["verified"] for one in read(api.senders.get())} == {
        "shop@example.com": False,
        "other@example.com": True,
    }


@each_row(
    "fields, field",
    [
        ({"from": {"email": "shop"}}, "from.email"),
        ({"from": {"name": "Shop"}}, "from.email"),
        ({"from": "orders@example.com"}, "from"),
        ({"from": {"email": "orders@example.com", "age": 1}}, "from.age"),
        ({"reply_to": {"email": "help"}}, "reply_to.email"),
        ({"reply_to": None}, "reply_to.email"),
        ({"nickname": ""}, "nickname"),
        ({"nickname": "x" * 257}, "nickname"),
        ({"city": 7}, "city"),
        ({"zip": "\x00"}, "zip"),
        ({"city": "Berlin\x01"}, "city"),
        ({"nickname": "Orders\r\nBcc: a@example.com"}, "nickname"),
        ({"from": {"email": "orders@example.com", "name": "Or\u2028ders"}}, "from.name"),
        ({"planet": "Mars"}, "planet"),
    ],
)
def test_a_faulty_field_is_named_and_nothing_is_added(
    api: Any, fields: dict[str, Any], field: str
) -> None:
    assert refused(api.senders.post, SHOP | fields) == field
    assert read(api.senders.get()) == []


def test_an_address_has_one_sender_which_keeps_it(api: Any) -> None:
    made = read(api.senders.post(request_body=SHOP))

    assert refused(api.senders.post, SHOP) == "from.email"
    assert refused(api.verified_senders.post, VERIFIED) == "from_email"
    moved = {"from": {"email": "new@example.com"}}
    assert refused(api.senders._(made["id"]).patch, moved) == "from.email"


def test_a_key_sees_and_changes_its_project_alone(site: Served, api: Any) -> None:
    made = read(api.senders.post(request_body=SHOP))
    other = of(site, site.keys.other).senders._(made["id"])

    for call in (other.get, other.delete, lambda: other.patch(request_body={"city": "Oslo"})):
        with pytest.raises(NotFoundError):
            call()
    with pytest.raises(HTTPError) as lacking:
        of(site, site.keys.test).senders.post(request_body=SHOP)
    assert lacking.value.status_code == 403
    assert read(api.senders.get()) == [made]


def refused(call: Any, body: dict[str, Any]) -> str:
    """Return the field that an answer names."""
    with pytest.raises(BadRequestsError) as caught:
        call(request_body=body)
    return str(caught.value.to_dict["errors"][0]["field"])
