"""Passkeys on the account page: added, listed, removed, and gone with their user."""

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import cbor2
import pytest

from tests import make
from tests.console.passkeys.authenticator import PRESENT, content, text
from tests.console.passkeys.using import (
    ACCOUNT,
    ADD,
    CONFIRM,
    HOST,
    LAPSED,
    LOG_IN,
    PASSKEYS,
    REMOVE,
    URL,
    added,
    answered,
    asked,
    audited,
    browser,
    device,
    is_logged_in,
    log_in,
    of_new_user,
)
from tests.console.visiting import Visiting

pytestmark = pytest.mark.anyio


async def test_a_passkey_is_added_listed_and_removed(console: Visiting) -> None:
    await console.add_user("ann", origin=URL)
    async with browser(console) as visitor, console.connection() as conn:
        await visitor.log_in("ann")
        options = await asked(visitor, ADD)
        passkey = await added(visitor, "Ann's laptop")
        page = (await visitor.get(ACCOUNT)).text
        again = await asked(visitor, ADD)
        stored = await make.rows(
            conn, "SELECT id::text, transports, sign_count FROM mailqueue.console_passkeys"
        )
        await log_in(visitor, passkey)
        used = (await visitor.get(ACCOUNT)).text
        removed = await answered(visitor, REMOVE, "", passkey=stored[0][0])
        after = (await visitor.get(removed.headers["location"])).text
        async with browser(console) as other:
            refused = await log_in(other, passkey)

    assert (options["rp"]["id"], options["user"]["name"]) == (HOST, "ann")
    assert options["attestation"] == "none"
    assert options["authenticatorSelection"]["residentKey"] == "required"
    assert options["authenticatorSelection"]["userVerification"] == "required"
    assert options["excludeCredentials"] == []
    assert [each["id"] for each in again["excludeCredentials"]] == [text(passkey.credential_id)]
    assert ("Ann&#39;s laptop" in page, "not used yet" in page) == (True, True)
    assert stored[0][1:] == (["internal"], 1)
    assert ("last used" in used, "not used yet" in used) == (True, False)
    assert removed.headers["location"] == f"{PASSKEYS}?done=removed"
    assert ("was removed" in after, "Ann&#39;s laptop" in after) == (True, False)
    assert refused.status_code == 401
    assert [(by, action, detail["passkey"]) for by, action, detail in await audited(console)] == [
        ("ann (console)", f"console_user.passkey_{what}", "Ann's laptop")
        for what in ("added", "used", "removed")
    ]


async def test_adding_and_removing_need_a_recent_login(console: Visiting) -> None:
    await of_new_user(console)
    async with browser(console) as visitor, console.connection() as conn:
        await visitor.log_in("ann")
        (stored,) = await make.rows(conn, "SELECT id::text FROM mailqueue.console_passkeys")
        await conn.execute(console.unconfirmed("ann"))
        page = await visitor.get(PASSKEYS)
        sent = [
            await visitor.post(path, {"token": visitor.token(path), "passkey": stored[0]})
            for path in (f"{ADD}/begin", ADD, REMOVE)
        ]
        left = await make.scalar(conn, "SELECT count(*) FROM mailqueue.console_passkeys")

    assert all(each.headers["location"].startswith(f"{CONFIRM}?next=") for each in [page, *sent])
    assert left == 1


async def test_what_was_not_made_for_this_page_is_not_added(console: Visiting) -> None:
    await console.add_user("ann", origin=URL)
    await console.add_user("ben", origin=URL)
    statuses: dict[str, int] = {}

    async with (
        browser(console) as visitor,
        browser(console) as other,
        console.connection() as conn,
    ):
        await visitor.log_in("ann")
        await other.log_in("ben")

        async def sent(what: str, answer: str, name: str = "phone") -> None:
            statuses[what] = (await answered(visitor, ADD, answer, name=name)).status_code

        changes: dict[str, dict[str, Any]] = {
            "another origin": {"origin": "https://evil.example.com"},
            "another host": {"rp_id": "evil.example.com"},
            "no verification": {"flags": PRESENT},
            "an id that is too long": {"credential_id": bytes(1024)},
            "no id": {"credential_id": b""},
        }
        for what, changed in changes.items():
            await sent(what, device(**changed).make(await asked(visitor, ADD))[1])
        options = await asked(visitor, ADD)
        await sent("another type", device().make(options, type="webauthn.get")[1])
        theirs = await asked(other, ADD)
        await sent("no challenge", device().make(theirs)[1])
        await asked(visitor, ADD)
        await sent("of another session", device().make(theirs)[1])
        log_in_options = await asked(visitor, LOG_IN)
        await asked(visitor, ADD)
        answer = device().make(options | {"challenge": log_in_options["challenge"]})[1]
        await sent("of a login", answer)
        options = await asked(visitor, ADD)
        await conn.execute(LAPSED)
        await sent("too late", device().make(options)[1])
        right = json.loads(device().make(await asked(visitor, ADD))[1])
        attested = cbor2.loads(content(right["response"]["attestationObject"]))
        for what, broken in {
            "not JSON": "{",
            "a list": "[]",
            "nothing": "",
            "deep": "[" * 10_000,
            "no response": json.dumps(right | {"response": None}),
            "not base64": json.dumps(
                right | {"response": right["response"] | {"attestationObject": "\u20ac*"}}
            ),
            "not CBOR": json.dumps(
                right | {"response": right["response"] | {"attestationObject": text(b"\xff\xff")}}
            ),
            "deep CBOR": json.dumps(
                right
                | {"response": right["response"] | {"attestationObject": text(b"\x81" * 9000)}}
            ),
            "too short": json.dumps(
                right
                | {
                    "response": right["response"]
                    | {
                        "attestationObject": text(
                            cbor2.dumps(attested | {"authData": attested["authData"][:50]})
                        )
                    }
                }
            ),
            "too long": json.dumps(right | {"more": "x" * 20_000}),
        }.items():
            await asked(visitor, ADD)
            await sent(what, broken)
        for what, name in {"no name": "", "a long name": "x" * 101, "a tab": "a\tb"}.items():
            await sent(what, device().make(await asked(visitor, ADD))[1], name)
        huge = await answered(visitor, ADD, b64encode(bytes(60_000)).decode(), name="phone")
        left = await make.scalar(conn, "SELECT count(*) FROM mailqueue.console_passkeys")

    assert statuses == dict.fromkeys(statuses, 422)
    assert huge.status_code == 413
    assert left == 0


async def test_a_challenge_is_answered_once_and_a_passkey_has_one_user(
    console: Visiting,
) -> None:
    passkey = await of_new_user(console)
    await console.add_user("ben", origin=URL)
    async with browser(console) as visitor:
        await visitor.log_in("ben")
        options = await asked(visitor, ADD)
        answer = device().make(options)[1]
        first = await answered(visitor, ADD, answer, name="one")
        second = await answered(visitor, ADD, answer, name="two")
        taken = passkey.make(await asked(visitor, ADD))[1]
        theirs = await answered(visitor, ADD, taken, name="three")
        async with browser(console) as ann:
            owner = await log_in(ann, passkey)
            who = (await ann.get(ACCOUNT)).text

    assert (first.status_code, second.status_code, theirs.status_code) == (303, 422, 422)
    assert "begin again" in second.text
    assert "added before" in theirs.text
    assert (owner.status_code, "<bdi>ann</bdi>" in who) == (303, True)


async def test_a_user_has_at_most_twenty(console: Visiting) -> None:
    await console.add_user("ann", origin=URL)
    async with browser(console) as visitor:
        await visitor.log_in("ann")
        for number in range(20):
            await added(visitor, f"device {number}")
        await asked(visitor, ADD, status=409)


async def test_another_users_passkey_is_not_removed(console: Visiting) -> None:
    await of_new_user(console)
    await console.add_user("ben", origin=URL)
    async with browser(console) as visitor, console.connection() as conn:
        await visitor.log_in("ben")
        (stored,) = await make.rows(conn, "SELECT id::text FROM mailqueue.console_passkeys")
        statuses = [
            (await answered(visitor, REMOVE, "", passkey=each)).status_code
            for each in (stored[0], "", "x", "0" * 32)
        ]
        left = await make.scalar(conn, "SELECT count(*) FROM mailqueue.console_passkeys")

    assert (statuses, left) == ([404] * 4, 1)


async def test_passkeys_go_with_their_user_and_with_a_reset(console: Visiting) -> None:
    ann, ben = await of_new_user(console, "ann"), await of_new_user(console, "ben")
    await console.add_user("sue", origin=URL)
    count = "SELECT count(*) FROM mailqueue.console_passkeys"
    async with (
        browser(console) as visitor,
        browser(console) as sue,
        console.connection() as conn,
    ):
        await log_in(visitor, ann)
        await sue.log_in("sue")
        user = await make.scalar(conn, "SELECT id FROM mailqueue.console_users WHERE name = 'ann'")
        path = f"/console/users/one/{user}"
        shown = (await sue.get(path)).text
        listed = [(await sue.get("/console/users")).text.count("1 passkey")]
        reset = await sue.submit(f"{path}/reset", f"{path}/reset")
        ended = not await is_logged_in(visitor)
        refused = [await log_in(visitor, ann)]
        left = [await make.scalar(conn, count)]
        listed.append((await sue.get("/console/users")).text.count("1 passkey"))
        alone = await visitor.log_in("ann")
        await conn.execute("SELECT mailqueue.remove_console_user('ben', 'tests')")
        refused.append(await log_in(visitor, ben))
        left.append(await make.scalar(conn, count))

    assert ("laptop" in shown, "Reset second factor" in shown) == (True, True)
    assert reset.headers["location"] == f"{path}?done=reset"
    assert listed == [2, 1]
    assert (ended, left, alone.status_code) == (True, [1, 0], 303)
    assert [each.status_code for each in refused] == [401, 401]
    assert ("sue (console)", "console_user.second_factor_reset", {"passkeys": 1}) in await audited(
        console
    )


async def test_a_form_that_arrives_slowly_adds_nothing_after_a_reset(console: Visiting) -> None:
    await console.add_user("ann", origin=URL)
    async with browser(console) as visitor, console.connection() as conn:
        await visitor.log_in("ann")
        await added(visitor)
        answer = device().make(await asked(visitor, ADD))[1]
        fields = {"token": visitor.token(ADD), "credential": answer, "name": "phone"}

        async def slowly() -> AsyncIterator[bytes]:
            yield urlencode(fields).encode()
            await conn.execute("SELECT mailqueue.reset_console_second_factor('ann', 'tests')")
            yield b"&more="

        kind = "application/x-www-form-urlencoded"
        headers = {"Origin": URL, "Content-Type": kind}
        refused = await visitor.http.post(ADD, content=slowly(), headers=headers)
        left = await make.scalar(conn, "SELECT count(*) FROM mailqueue.console_passkeys")

    assert (refused.status_code, left) == (422, 0)
    assert "session has ended" in refused.text
