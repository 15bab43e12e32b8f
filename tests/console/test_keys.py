"""API keys in the console: created once, tried, rotated, revoked, and who did it."""

import asyncio
import re
from html import unescape
from uuid import UUID

import pytest

from mailqueue.projects.keys.manage import find_key, issue_key
from tests import make
from tests.console.visiting import Visiting, Visitor

pytestmark = pytest.mark.anyio

KEYS = "/console/projects/default/keys"
_SHOWN = re.compile(r"mq_(?:live|test)_[0-9A-Za-z]{40,}")


async def logged_in(console: Visiting, visitor: Visitor, name: str = "ann") -> None:
    await console.add_user(name, "project_admin", "default")
    assert (await visitor.log_in(name)).status_code == 303


async def created(visitor: Visitor, name: str = "web", **fields: str) -> str:
    """Create a key by the form; return the key."""
    given = {"name": name, "scope-email:send": "on", "mode": "live"} | fields
    response = await visitor.submit(f"{KEYS}/new", f"{KEYS}/new", **given)
    assert response.status_code == 200, response.text
    found = _SHOWN.search(response.text)
    assert found is not None, response.text
    return found[0]


async def id_of(console: Visiting, name: str = "web") -> UUID:
    async with console.connection() as conn:
        found: UUID = await make.scalar(
            conn,
            "SELECT id FROM mailqueue.api_keys WHERE name = %s ORDER BY created_at DESC LIMIT 1",
            name,
        )
    return found


async def test_a_key_is_created_shown_once_and_works(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        empty = (await visitor.get(KEYS)).text
        key = await created(visitor, expires="30", requests_per_second="7")
        listed = (await visitor.get(KEYS)).text
        page = (await visitor.get(f"{KEYS}/{await id_of(console)}")).text
    async with console.connection() as conn:
        caller = await find_key(conn, key)

    assert "No key yet" in empty
    assert caller is not None
    assert (caller.name, caller.scopes) == ("web", frozenset({"email:send"}))
    assert caller.requests_per_second == 7
    assert key not in listed + page
    assert key[:12] in listed
    assert "ann (console)" in listed
    assert "never" in listed


async def test_the_command_that_tries_a_key_can_be_run(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        fields = {"name": "web", "scope-email:send": "on", "mode": "live"}
        page = unescape((await visitor.submit(f"{KEYS}/new", f"{KEYS}/new", **fields)).text)
        command = re.search(r"curl (\S+) -H '(X-API-Key): (\S+)'", page)
        body = re.search(r"-d '(\{.*?\})'", page)
        assert command is not None
        assert body is not None
        assert command[1] == f"{visitor.origin}/v1/send"
        sent = await visitor.http.post(
            command[1],
            content=body[1],
            headers={command[2]: command[3], "Content-Type": "application/json"},
        )

    assert sent.status_code == 202, sent.text


async def test_a_form_that_is_sent_twice_makes_one_key(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        fields = await visitor.form(f"{KEYS}/new", f"{KEYS}/new")
        fields |= {"name": "web", "scope-email:read": "on", "mode": "live"}
        both = await asyncio.gather(*(visitor.post(f"{KEYS}/new", fields) for _ in range(2)))
        assert sorted(each.status_code for each in both) == [200, 303]
        told = next(each for each in both if each.status_code == 303)
        page = (await visitor.get(told.headers["location"])).text

    assert "was not done again" in page
    async with console.connection() as conn:
        assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.api_keys") == 1


async def test_errors_stand_at_the_field_and_keep_what_was_typed(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        await created(visitor)
        fields = await visitor.form(f"{KEYS}/new", f"{KEYS}/new")
        for change, field, why in (
            ({"name": "web"}, "name", "Key web already exists"),
            ({"name": ""}, "name", "Must be 1 to 100"),
            ({"scope-email:send": ""}, "scopes", "Choose at least one"),
            ({"requests_per_second": "<b>"}, "requests_per_second", "whole number"),
            ({"requests_per_second": "0"}, "requests_per_second", "Must be 1 to"),
            ({"expires": "9" * 15}, "expires", "one of the times"),
        ):
            typed = {"name": "other <i>", "scope-email:send": "on", "expires": "90"} | change
            response = await visitor.post(f"{KEYS}/new", fields | typed)
            assert response.status_code == 422, (change, response.text)
            fault = re.search(rf'id="fault-{field}">([^<]*)', response.text)
            assert fault is not None, change
            assert why in unescape(fault[1])
            if "name" not in change:
                assert 'value="other &lt;i&gt;"' in response.text
            if "expires" not in change:
                assert '<option value="90" selected>' in response.text
        # The form was not used up by the errors.
        done = await visitor.post(
            f"{KEYS}/new", fields | {"name": "other", "scope-email:send": "on"}
        )

    assert done.status_code == 200


async def test_a_rotated_key_stays_valid_for_the_time_chosen(console: Visiting) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        old = await created(visitor)
        old_id = await id_of(console)
        path = f"{KEYS}/{old_id}/rotate"
        wrong = await visitor.submit(path, path, grace="5")
        response = await visitor.submit(path, path, grace="24")
        found = _SHOWN.search(response.text)
        assert found is not None
        again = await visitor.get(path)
        page = (await visitor.get(f"{KEYS}/{old_id}")).text

    async with console.connection() as conn:
        assert await find_key(conn, old) is not None
        assert await find_key(conn, found[0]) is not None
        hours = await make.scalar(
            conn,
            "SELECT round(extract(epoch FROM expires_at - now()) / 3600)::int"
            " FROM mailqueue.api_keys WHERE id = %s",
            old_id,
        )
    assert wrong.status_code == 422
    assert hours == 24
    assert "Only an active key can be rotated; this one is rotated" in again.text
    assert "Another key has taken its name" in page


async def test_a_revoked_key_says_who_revoked_it_and_why(console: Visiting) -> None:
    async with console.visitor() as visitor, console.visitor() as another:
        await logged_in(console, visitor)
        await logged_in(console, another, "ben")
        key = await created(visitor)
        path = f"{KEYS}/{await id_of(console)}"
        without = await another.submit(f"{path}/revoke", f"{path}/revoke", reason=" ")
        response = await another.submit(
            f"{path}/revoke", f"{path}/revoke", reason="seen in a <commit>"
        )
        page = (await visitor.get(response.headers["location"])).text
        listed = (await visitor.get(KEYS)).text
        asked = (await visitor.get(f"{path}/revoke")).text

    assert without.status_code == 422
    assert "The key was revoked." in page
    for text in (page, listed):
        assert "ben (console)" in text
        assert "seen in a &lt;commit&gt;" in text
    assert "This key is revoked already" in asked
    async with console.connection() as conn:
        assert await find_key(conn, key) is None
        row = await make.rows(
            conn,
            "SELECT actor, subject, detail ->> 'reason' FROM mailqueue.audit_events"
            " WHERE action = 'api_key.revoked'",
        )
    assert row == [("ben (console)", "api key web", "seen in a <commit>")]


async def test_keys_are_listed_page_by_page(console: Visiting) -> None:
    async with console.connection() as conn:
        for number in range(52):
            await issue_key(conn, "default", f"key {number}", is_test=False)
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        first = (await visitor.get(KEYS)).text
        following = re.search(r'rel="next" href="([^"]*)"', first)
        assert following is not None
        second = (await visitor.get(unescape(following[1]))).text

    names = re.findall(r"<bdi>(key \d+)</bdi>", first + second)
    assert names == [f"key {number}" for number in reversed(range(52))]
    assert 'rel="next"' not in second


async def test_a_key_of_another_project_is_not_found(console: Visiting) -> None:
    async with console.connection() as conn:
        await make.project(conn, "blog")
        await issue_key(conn, "blog", "SECRET", is_test=False)
    other = await id_of(console, "SECRET")
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        await created(visitor)
        mine = f"{KEYS}/{await id_of(console)}/revoke"
        fields = await visitor.form(mine, mine)
        for path in (f"{KEYS}/{other}", f"{KEYS}/{other}/rotate", f"{KEYS}/{other}/revoke"):
            response = await visitor.get(path)
            assert (response.status_code, "SECRET" in response.text) == (404, False), path
        assert (await visitor.post(f"{KEYS}/{other}/revoke", fields)).status_code == 403
        assert (await visitor.get(f"{KEYS}/x")).status_code == 404
