"""API keys through the API: created, listed, replaced, revoked, with at most the creator's
rights.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.db.pool import connect
from mailqueue.projects.keys.manage import issue_key, revoke_key
from mailqueue.projects.model import Scope
from tests import make
from tests.api.support.calling import HELLO, Calling, error_of
from tests.rows import each_row

pytestmark = pytest.mark.anyio
PATH = "/v1/projects/default/api-keys"
WANTED = {"name": "Production Send Key", "scopes": ["email:send"], "expires_in_days": 365}


async def made(api: Calling, **change: Any) -> dict[str, Any]:
    answer = await api.post(PATH, {**WANTED, **change})
    assert answer.status_code == 201, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def test_a_key_is_shown_once_and_works(api: Calling) -> None:
    key = await made(api, rate_limit_per_sec=500)
    shown = await api.get(f"{PATH}/{key['id']}")
    sent = await api.send(X_API_Key=key["key"])
    elsewhere = await api.get(PATH, key=key["key"])

    assert key["key"].startswith(key["prefix"])
    assert key["warning"]
    assert key["expires_at"].startswith(f"{datetime.now(UTC) + timedelta(days=365):%Y-%m-%d}")
    assert key["key"] not in shown.text
    assert key["key"] not in (await api.get(PATH)).text
    document = shown.json()
    assert (document["status"], document["rate_limit_per_sec"]) == ("active", 500)
    assert document["created_by"] == "key tests"
    assert sent.status_code == 202
    assert (elsewhere.status_code, error_of(elsewhere)["needed"]) == (403, "scope project:read")
    used = (await api.get(f"{PATH}/{key['id']}")).json()
    assert used["last_used_ip"] == "127.0.0.1"


async def test_lists_are_read_page_by_page(api: Calling) -> None:
    for number in range(4):
        await made(api, name=f"key {number}")

    first = (await api.get(f"{PATH}?limit=3")).json()
    second = (await api.get(f"{PATH}?limit=3&cursor={first['next_cursor']}")).json()

    names = [key["name"] for key in first["data"] + second["data"]]
    assert names == ["key 3", "key 2", "key 1", "key 0", "tests"]
    assert second["next_cursor"] is None


@each_row("cursor", ["x", "W10", "WyJhIiwiYiJd", "%00", "\u00e9", "a" * 2000])
async def test_an_invalid_cursor_is_refused(api: Calling, cursor: str) -> None:
    answer = await api.get(f"{PATH}?cursor={cursor}")

    assert (answer.status_code, error_of(answer)["field"]) == (422, "cursor")


async def test_name_and_rate_can_be_changed_and_nothing_else(api: Calling) -> None:
    key = await made(api, rate_limit_per_sec=500)
    path = f"{PATH}/{key['id']}"

    renamed = await api.put(path, {"name": "Billing"})
    usual = await api.put(path, {"rate_limit_per_sec": None})
    refused = [
        await api.put(path, change)
        for change in ({"scopes": ["project:write"]}, {"name": ""}, {"rate_limit_per_sec": 0})
    ]

    assert (renamed.json()["name"], renamed.json()["rate_limit_per_sec"]) == ("Billing", 500)
    assert (usual.json()["name"], usual.json()["rate_limit_per_sec"]) == ("Billing", None)
    assert [answer.status_code for answer in refused] == [422] * 3


async def test_a_replaced_key_goes_on_for_a_day(api: Calling) -> None:
    old = await made(api)

    answer = await api.post(f"{PATH}/{old['id']}/rotate", {})
    new = answer.json()
    shown = (await api.get(f"{PATH}/{old['id']}")).json()
    both = [await api.send(X_API_Key=key["key"]) for key in (old, new)]
    again = await api.post(f"{PATH}/{old['id']}/rotate", {})

    assert answer.status_code == 201
    assert (new["name"], new["scopes"]) == (old["name"], old["scopes"])
    assert new["key"] != old["key"]
    assert shown["status"] == "rotated"
    left = datetime.fromisoformat(shown["expires_at"]) - datetime.now(UTC)
    assert timedelta(hours=23) < left <= timedelta(hours=24)
    assert [sent.status_code for sent in both] == [202, 202]
    assert again.status_code == 404


async def test_without_grace_the_old_key_ends_at_once(api: Calling) -> None:
    old = await made(api)

    await api.post(f"{PATH}/{old['id']}/rotate", {"grace_hours": 0})

    assert (await api.send(X_API_Key=old["key"])).status_code == 401


async def test_a_revoked_key_is_refused_from_then_on(api: Calling) -> None:
    key = await made(api)
    assert (await api.send(X_API_Key=key["key"])).status_code == 202

    gone = await api.delete(f"{PATH}/{key['id']}?reason=it%20was%20in%20a%20commit")
    refused = await api.send(X_API_Key=key["key"])
    shown = (await api.get(f"{PATH}/{key['id']}")).json()
    again = await api.delete(f"{PATH}/{key['id']}")

    assert (gone.status_code, refused.status_code, again.status_code) == (204, 401, 204)
    assert (shown["status"], shown["revoked_reason"]) == ("revoked", "it was in a commit")
    assert shown["revoked_by"] == "key tests"
    assert await made(api), "its name is free for another"


async def test_a_key_that_another_process_revoked_is_refused_at_once(api: Calling) -> None:
    async with connect(api.database) as conn:
        stolen = (await issue_key(conn, "default", "stolen", is_test=False)).key.reveal()
        assert (await api.send(X_API_Key=stolen)).status_code == 202
        assert (await api.get("/v1/emails", key=stolen)).status_code == 200

        await revoke_key(conn, "default", "stolen")

        assert (await api.get("/v1/emails", key=stolen)).status_code == 401
        once = await api.send(X_API_Key=stolen, Idempotency_Key="a")
        refused, served = await asyncio.gather(api.send(X_API_Key=stolen), api.send())
        emails = await make.scalar(conn, "SELECT count(*) FROM mailqueue.emails")

    assert (once.status_code, refused.status_code, served.status_code) == (401, 401, 202)
    assert emails == 2


async def test_a_key_makes_none_that_may_do_more(api: Calling) -> None:
    async with connect(api.database) as conn:
        scopes = {Scope.PROJECT_WRITE, Scope.EMAIL_READ}
        poor = await issue_key(conn, "default", "poor", is_test=False, scopes=scopes)
        test = await issue_key(conn, "default", "test", is_test=True)
    rich = await made(api, name="rich")
    by_poor, by_test = poor.key.reveal(), test.key.reveal()

    refused = [
        await api.post(PATH, {**WANTED, "name": "x"}, key=by_poor),
        await api.post(f"{PATH}/{rich['id']}/rotate", {}, key=by_poor),
        await api.post(PATH, {**WANTED, "name": "x", "is_test": False}, key=by_test),
        await api.post(f"{PATH}/{rich['id']}/rotate", {}, key=by_test),
    ]
    fine = await api.post(PATH, {**WANTED, "scopes": ["email:read"], "name": "y"}, key=by_poor)
    usual = await api.post(PATH, {**WANTED, "name": "z"}, key=by_test)

    # A test key does not know of live keys.
    assert [answer.status_code for answer in refused] == [403, 403, 403, 404]
    assert [error_of(answer)["needed"] for answer in refused[:3]] == [
        "scope email:send",
        "scope email:send",
        "a live key",
    ]
    assert (fine.status_code, usual.json()["is_test"]) == (201, True)


@each_row(
    "change, field",
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["root"]}, "scopes"),
        ({"scopes": "email:send"}, "scopes"),
        ({"expires_in_days": 0}, "expires_in_days"),
        ({"expires_in_days": 10**9}, "expires_in_days"),
        ({"rate_limit_per_sec": -1}, "rate_limit_per_sec"),
        ({"created_by": "me"}, "created_by"),
        ({"project_id": str(uuid4())}, "project_id"),
    ],
)
async def test_what_cannot_be_is_refused_by_name(
    api: Calling, change: dict[str, Any], field: str
) -> None:
    answer = await api.post(PATH, {**WANTED, **change})

    assert (answer.status_code, error_of(answer)["field"]) == (422, field)


async def test_names_in_force_are_used_once(api: Calling) -> None:
    await made(api)

    assert (await api.post(PATH, WANTED)).status_code == 409


async def test_keys_of_others_are_not_there(api: Calling) -> None:
    async with connect(api.database) as conn:
        project = await make.project(conn, "other")
        other = await issue_key(conn, "other", "theirs", is_test=False)
    mine = await made(api)
    key = other.key.reveal()

    for pid in ("default", str(await default_id(api)), "nobody"):
        assert (await api.get(f"/v1/projects/{pid}/api-keys", key=key)).status_code == 404
    for pid in ("other", str(project)):
        path = f"/v1/projects/{pid}/api-keys/{mine['id']}"
        answers = [
            await api.get(path, key=key),
            await api.put(path, {"name": "mine now"}, key=key),
            await api.post(f"{path}/rotate", {}, key=key),
            await api.delete(path, key=key),
        ]
        assert [answer.status_code for answer in answers] == [404] * 4
    assert (await api.send(HELLO, X_API_Key=mine["key"])).status_code == 202


async def test_every_change_is_in_the_audit(api: Calling) -> None:
    key = await made(api)
    await api.put(f"{PATH}/{key['id']}", {"name": "Billing"})
    new = (await api.post(f"{PATH}/{key['id']}/rotate", {})).json()
    await api.delete(f"{PATH}/{new['id']}")

    async with connect(api.database) as conn:
        rows = await make.rows(
            conn,
            "SELECT action, actor, detail::text FROM mailqueue.audit_events"
            " WHERE actor = 'key tests' ORDER BY id",
        )
    assert [row[0] for row in rows] == [
        "api_key.created",
        "api_key.changed",
        "api_key.rotated",
        "api_key.revoked",
    ]
    assert not any(key["key"] in row[2] or new["key"] in row[2] for row in rows)


async def default_id(api: Calling) -> Any:
    async with connect(api.database) as conn:
        return await make.project_named(conn)
