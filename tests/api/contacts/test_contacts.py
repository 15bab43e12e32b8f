"""Contacts and lists over HTTP."""

import pytest

from mailqueue.db.pool import connect
from tests import make
from tests.api.support.calling import Calling, error_of
from tests.contacts import people
from tests.rows import each_row

pytestmark = pytest.mark.anyio

ANN = {"email": "ann@example.com", "first_name": "Ann", "attributes": {"plan": "pro"}}


async def test_a_contact_is_added_shown_changed_and_removed(api: Calling) -> None:
    made = await api.post("/v1/contacts", ANN | {"consent_source": "form"})
    assert made.status_code == 201, made.text
    contact_id = made.json()["id"]
    assert made.json()["consented_at"] is not None
    assert (await api.post("/v1/contacts", ANN | {"email": "ANN@example.com"})).status_code == 409

    by_address = await api.get("/v1/contacts/Ann@EXAMPLE.com")
    assert by_address.json()["id"] == contact_id
    asked = {"last_name": "Lee", "first_name": None, "attributes": {"plan": None, "n": 1}}
    changed = await api.http.patch(
        f"/v1/contacts/{contact_id}", json=asked, headers={"X-API-Key": api.key}
    )
    assert changed.status_code == 200, changed.text
    found = changed.json()
    assert (found["first_name"], found["last_name"], found["attributes"]) == (None, "Lee", {"n": 1})
    put = await api.put("/v1/contacts/bob@example.com", {"first_name": "Bob"})
    again = await api.put("/v1/contacts/bob@example.com", {"language": "de"})
    assert put.json()["id"] == again.json()["id"]
    assert (again.json()["first_name"], again.json()["language"]) == ("Bob", "de")

    await api.post("/v1/send", {"to": "ann@example.com", "subject": "x", "text_body": "x"})
    gone = await api.delete(f"/v1/contacts/{contact_id}")
    assert gone.json() == {"id": contact_id, "email": "ann@example.com", "cancelled": 1}
    assert (await api.get(f"/v1/contacts/{contact_id}")).status_code == 404


@each_row(
    "field, value",
    [
        ("email", "ann"),
        ("first_name", ""),
        ("time_zone", "Mars/Base"),
        ("date_of_birth", "tomorrow"),
        ("date_of_birth", "2999-01-01"),
        ("language", "!"),
        ("consented_at", "2999-01-01T00:00:00Z"),
        ("attributes", []),
        ("nickname", "A"),
    ],
)
async def test_a_wrong_field_is_named(api: Calling, field: str, value: object) -> None:
    answer = await api.post("/v1/contacts", ANN | {field: value})

    assert answer.status_code == 422
    assert field in answer.text


async def test_contacts_are_listed_page_by_page_and_filtered(api: Calling) -> None:
    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        emails = [f"p{n}@example.com" for n in range(5)]
        await people.added(conn, project, *emails[:3], attributes={"plan": "pro"}, language="de")
        await people.added(conn, project, *emails[3:], time_zone="Europe/Rome")

    first = (await api.get("/v1/contacts?limit=2")).json()
    second = (await api.get(f"/v1/contacts?limit=2&cursor={first['next_cursor']}")).json()
    shown = [one["email"] for one in first["data"] + second["data"]]
    assert shown == emails[:0:-1]

    async def found(query: str) -> int:
        answer = await api.get(f"/v1/contacts?{query}")
        assert answer.status_code == 200, answer.text
        return len(answer.json()["data"])

    assert await found("q=P3%40") == 1
    assert await found("language=DE") == 3
    assert await found("time_zone=Europe/Rome") == 2
    assert await found("condition=$.attributes.plan%20==%20%22pro%22") == 3
    bad = await api.get("/v1/contacts?condition=$.(")
    assert (bad.status_code, "condition" in bad.text) == (422, True)


async def test_a_list_is_added_counted_changed_and_removed(api: Calling) -> None:
    for name in ("ann", "bob"):
        await api.post("/v1/contacts", {"email": f"{name}@example.com"})
    made = await api.post("/v1/lists", {"name": "news", "description": "News"})
    assert made.status_code == 201, made.text
    assert (await api.post("/v1/lists", {"name": "news"})).status_code == 409
    asked = {"contacts": ["ann@example.com", "bob@example.com"]}
    assert (await api.post("/v1/lists/news/members", asked)).json() == {"changed": 2}
    unknown = await api.post("/v1/lists/news/members", {"contacts": ["eve@example.com"]})
    assert (unknown.status_code, "contacts.0" in unknown.text) == (422, True)
    shown = (await api.get("/v1/lists/news/members?limit=1")).json()
    assert [one["email"] for one in shown["data"]] == ["ann@example.com"]
    assert shown["next_cursor"] is not None

    async with connect(api.database) as conn:
        project = await make.project_named(conn)
        await conn.execute(
            "SELECT mailqueue.suppress(%s, 'bob@example.com', '', 'manual', NULL, NULL, 'tests')",
            (project,),
        )
    counted = (await api.get("/v1/lists/news/count?category=marketing")).json()
    assert counted == {"contacts": 2, "pending": 0, "checked": 2, "suppressed": 1}
    gone = await api.post("/v1/lists/news/members/remove", {"contacts": ["bob@example.com"]})
    assert gone.json() == {"changed": 1}
    detail = (await api.get("/v1/contacts/ann@example.com")).json()
    assert [one["list"] for one in detail["lists"]] == ["news"]
    change = {"description": None, "opt_in": "recorded"}
    changed = (await api.put("/v1/lists/news", change)).json()
    assert (changed["description"], changed["opt_in"]) == (None, "recorded")
    assert (await api.get("/v1/lists/news/count")).json()["contacts"] == 0
    assert len((await api.get("/v1/lists")).json()["data"]) == 1
    assert (await api.delete("/v1/lists/news")).status_code == 204
    assert (await api.get("/v1/lists/news")).status_code == 404


async def test_contacts_of_a_list_are_listed_by_whether_they_confirmed(api: Calling) -> None:
    await api.post("/v1/contacts", {"email": "ann@example.com"})
    await api.post("/v1/lists", {"name": "news", "opt_in": "confirmed"})
    await api.post("/v1/lists/news/members", {"contacts": ["ann@example.com"]})

    pending = (await api.get("/v1/lists/news/members?status=pending")).json()
    assert [one["email"] for one in pending["data"]] == ["ann@example.com"]
    for query in ("", "?status=active"):
        assert (await api.get(f"/v1/lists/news/members{query}")).json()["data"] == []
    unknown = await api.get("/v1/lists/news/members?status=gone")
    assert (unknown.status_code, "status" in unknown.text) == (422, True)


async def test_a_condition_is_tried(api: Calling) -> None:
    await api.post("/v1/contacts", ANN)
    await api.post("/v1/contacts", {"email": "bob@example.com"})

    tried = await api.post("/v1/lists/try", {"condition": '$.attributes.plan == "pro"'})

    assert (tried.status_code, tried.json()["contacts"]) == (200, 1)
    assert [one["email"] for one in tried.json()["examples"]] == ["ann@example.com"]
    bad = await api.post("/v1/lists/try", {"condition": "$.a like_regex"})
    assert (bad.status_code, "condition" in error_of(bad)["message"]) == (422, True)
