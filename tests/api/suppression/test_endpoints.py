"""Suppressed addresses over HTTP."""

from typing import Any

import pytest

from mailqueue.api.suppression.lists import IMPORT_BYTES
from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key
from mailqueue.projects.model import Scope
from tests import make
from tests.api.support.calling import Calling, error_of

pytestmark = pytest.mark.anyio

ANN = "ann@example.com"
PATH = "/v1/suppressions"


async def listed(api: Calling, query: str = "", key: str | None = None) -> list[dict[str, Any]]:
    answer = await api.get(f"{PATH}{query}", key)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["data"]
    return found


async def imported(api: Calling, body: str | bytes, query: str = "", **headers: str) -> Any:
    given = {"X-API-Key": api.key, "Content-Type": "text/csv"} | headers
    return await api.http.post(f"{PATH}/import{query}", content=body, headers=given)


async def test_addresses_are_added_checked_and_removed_by_their_hash(api: Calling) -> None:
    answer = await api.post(
        PATH,
        {
            "emails": [
                "Ann@example.com",
                {"email": "bob@example.com", "reason": "unsubscribe", "category": "marketing"},
            ],
            "reason": "complaint",
        },
    )
    assert answer.status_code == 200
    ann, bob = answer.json()["data"]
    assert (ann["email"], ann["status"], len(ann["email_hash"])) == (ANN, "added", 64)
    assert (await api.post(PATH, {"email": ANN})).json()["data"][0]["status"] == "there_already"

    assert (await api.send()).json()["status"] == "suppressed"
    found = (await api.get(f"{PATH}/check?email=ANN@example.com")).json()
    assert (found["suppressed"], found["reason"], found["email_hash"]) == (
        True,
        "complaint",
        ann["email_hash"],
    )
    of_bob = (await api.get(f"{PATH}/check?email=bob@example.com")).json()
    assert (of_bob["suppressed"], of_bob["suppressions"][0]["reason"]) == (False, "unsubscribed")

    path = f"{PATH}/{ann['email_hash']}"
    refused = await api.delete(path)
    assert (refused.status_code, error_of(refused)["field"]) == (422, "why")
    gone = await api.delete(f"{path}?why=she%20called")
    assert gone.json() == {"email": ANN, "email_hash": ann["email_hash"], "removed": 1}
    assert (await api.delete(path)).status_code == 404
    assert (await api.delete(f"{PATH}/{bob['email_hash']}")).status_code == 200
    assert (await api.send()).json()["status"] == "queued"
    async with connect(api.database) as conn:
        actors = "SELECT DISTINCT actor FROM mailqueue.audit_events WHERE action LIKE 'suppress%'"
        assert await make.rows(conn, actors) == [("key tests",)]


async def test_the_list_goes_page_by_page(api: Calling) -> None:
    emails = [f"p{n}@example.com" for n in range(5)]
    await api.post(PATH, {"emails": emails})
    await api.post(PATH, {"email": "x@example.org", "reason": "unsubscribed"})

    first = (await api.get(f"{PATH}?limit=4")).json()
    rest = (await api.get(f"{PATH}?limit=4&cursor={first['next_cursor']}")).json()

    assert len(first["data"]) == 4
    assert rest["next_cursor"] is None
    seen = [one["email"] for one in (*first["data"], *rest["data"])]
    assert sorted(seen) == sorted([*emails, "x@example.org"])
    assert [one["email"] for one in await listed(api, "?reason=unsubscribe")] == ["x@example.org"]
    assert [one["email"] for one in await listed(api, "?q=P3%40")] == ["p3@example.com"]


WRONG: list[tuple[dict[str, Any], str | None]] = [
    ({}, None),
    ({"emails": []}, None),
    ({"email": ANN, "emails": [ANN]}, None),
    ({"email": "nobody"}, "email"),
    ({"emails": [ANN, "nobody"]}, "emails.1.email"),
    ({"email": ANN, "reason": "because"}, "reason"),
    ({"email": ANN, "category": "A B"}, "category"),
    ({"email": ANN, "detail": "\x1b[1m"}, "detail"),
    ({"email": ANN, "expires_at": "soon"}, "expires_at"),
    ({"email": ANN, "expires_at": "9999-12-31T23:59:59-12:00"}, "expires_at"),
    ({"emails": [ANN] * 1001}, "emails"),
    ({"email": ANN, "colour": "red"}, "colour"),
]


async def test_what_is_wrong_is_named(api: Calling) -> None:
    for body, field in WRONG:
        refused = await api.post(PATH, body)

        assert refused.status_code in (400, 422), body
        assert error_of(refused).get("field") == field, body
    assert await listed(api) == []


async def test_a_list_is_taken_in_and_given_out(api: Calling) -> None:
    body = "email,reason,detail\na@example.com,complaint,=1+1\nnobody,,\nb@example.com,,\n"

    tried = await imported(api, body, "?dry_run=true")
    assert (tried.status_code, tried.json()["added"], tried.json()["dry_run"]) == (200, 2, True)
    assert await listed(api) == []
    done = (await imported(api, body, "?reason=hard_bounce")).json()
    assert (done["added"], done["bad"], done["errors"][0]["line"]) == (2, 1, 3)

    csv = await api.get(f"{PATH}/export?reason=complaint")
    assert csv.headers["content-type"].startswith("text/csv")
    assert csv.headers["content-disposition"] == 'attachment; filename="suppressions.csv"'
    header, line, *more = csv.text.splitlines()
    assert (header.split(",")[0], line.split(",")[:4], more) == (
        "email",
        ["a@example.com", "complaint", "", "'=1+1"],
        [],
    )
    document = (await api.get(f"{PATH}/export?format=json")).json()
    assert {one["email"]: one["reason"] for one in document} == {
        "a@example.com": "complaint",
        "b@example.com": "hard_bounce",
    }
    again = await api.http.post(f"{PATH}/import", json=document, headers={"X-API-Key": api.key})
    assert again.json()["there_already"] == 2


NO_LIST: list[tuple[str | bytes, dict[str, str], int]] = [
    ("name\nann\n", {}, 422),
    ('["a@example.com"', {}, 422),
    ("a@example.com\n", {"Content-Encoding": "gzip"}, 415),
    (b"x" * (IMPORT_BYTES + 1), {}, 413),
]


async def test_what_is_no_list_changes_nothing(api: Calling) -> None:
    for body, headers, status in NO_LIST:
        refused = await imported(api, body, **headers)

        assert refused.status_code == status
        error_of(refused)
    assert await listed(api) == []


async def test_a_list_under_one_key_is_taken_in_once(api: Calling) -> None:
    once = {"Idempotency-Key": "list-1", "Content-Type": "application/json"}
    one = await imported(api, f'["{ANN}"]', **once)
    two = await imported(api, f'["{ANN}"]', **once)
    other = await imported(api, '["bob@example.com"]', **once)

    assert (one.status_code, one.json()["added"]) == (200, 1)
    assert (two.json(), two.headers["idempotent-replayed"]) == (one.json(), "true")
    assert (other.status_code, error_of(other)["field"]) == (422, "Idempotency-Key")
    assert len(await listed(api)) == 1


async def test_projects_do_not_see_each_other(api: Calling) -> None:
    async with connect(api.database) as conn:
        await make.project(conn, "shop")
        other = (await issue_key(conn, "shop", "web", is_test=False)).key.reveal()
        sends = await issue_key(conn, "shop", "sends", is_test=False, scopes=[Scope.EMAIL_SEND])
    added = (await api.post(PATH, {"email": ANN})).json()["data"][0]

    assert await listed(api, key=other) == []
    theirs = (await api.get(f"{PATH}/check?email={ANN}", other)).json()
    assert (theirs["suppressed"], theirs["email_hash"] == added["email_hash"]) == (False, False)
    assert (await api.delete(f"{PATH}/{added['email_hash']}", key=other)).status_code == 404
    assert (await api.get(f"{PATH}/export?format=json", other)).json() == []
    for path in ("", "/check?email=a@example.com", "/export"):
        refused = await api.get(f"{PATH}{path}", sends.key.reveal())
        assert (refused.status_code, error_of(refused)["needed"]) == (
            403,
            "scope suppression:manage",
        )


async def test_a_list_says_in_which_encoding_it_was_read(api: Calling) -> None:
    text = "email;detail\nann@example.com;Müller\n"
    for codec, encoding in (("utf-8", "utf-8"), ("utf-16", "utf-16"), ("cp1252", "windows-1252")):
        done = await imported(api, text.encode(codec))
        assert (done.status_code, done.json()["encoding"]) == (200, encoding)
    assert [one["detail"] for one in await listed(api)] == ["Müller"]

    refused = await imported(api, b"PK\x03\x04" + bytes(100))
    assert (refused.status_code, error_of(refused)["field"]) == (422, "file")
    refused = await imported(api, b"\xe9mail\nann@example.com\n")
    assert "it has émail" in error_of(refused)["message"]
    refused = await imported(api, "ü\n".encode() + b"\xe9\n")
    assert "it has ü" in error_of(refused)["message"]
