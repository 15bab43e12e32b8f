"""Log in and confirm with a passkey: what is refused, and what the audit log has of it."""

from typing import Any

import pytest
from psycopg.errors import LockNotAvailable

from mailqueue.admin.users import store
from mailqueue.admin.users.beginning import begin_session
from mailqueue.admin.users.passkeys import passkeys
from tests import make
from tests.console.passkeys.authenticator import text
from tests.console.passkeys.refused import FORGET, Trying, refusals
from tests.console.passkeys.using import (
    ACCOUNT,
    ADD,
    CONFIRM,
    CONFIRM_WITH,
    LOG_IN,
    PASSKEYS,
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


async def test_a_passkey_logs_in_without_password_and_code(console: Visiting) -> None:
    passkey = await of_new_user(console)
    async with browser(console) as visitor:
        options = await asked(visitor, LOG_IN)
        entered = await answered(visitor, LOG_IN, passkey.but(count=2).sign(options), next=PASSKEYS)
        page = await visitor.get(PASSKEYS)
        out = await answered(visitor, "/console/logout", "")
        elsewhere = await answered(
            visitor,
            LOG_IN,
            passkey.but(count=3).sign(await asked(visitor, LOG_IN)),
            next="https://evil.example.com",
        )

    assert (options["userVerification"], options["allowCredentials"]) == ("required", [])
    assert entered.headers["location"] == PASSKEYS
    assert page.status_code == 200, "it counts as a recent login"
    assert out.headers["location"] == "/console/login"
    assert elsewhere.headers["location"] == "/console"
    assert [(by, action, detail["for"]) for by, action, detail in (await audited(console))[1:]] == [
        ("ann (console)", "console_user.passkey_used", "log in")
    ] * 2


async def test_no_other_answer_logs_in(console: Visiting) -> None:
    mine, others = await of_new_user(console, "ann"), await of_new_user(console, "ben")
    async with browser(console) as visitor, browser(console) as elsewhere:
        found = await refusals(Trying(console, visitor, LOG_IN), mine, others, elsewhere)
        unnamed = mine.but(user_handle=None, count=9).sign(await asked(visitor, LOG_IN))
        found["no user"] = (await answered(visitor, LOG_IN, unnamed)).status_code
        answer = mine.but(count=9).sign(await asked(visitor, LOG_IN))
        async with browser(console) as thief:
            await asked(thief, LOG_IN)
            found["stolen"] = (await answered(thief, LOG_IN, answer)).status_code
        is_in = await is_logged_in(visitor)
        right = await answered(visitor, LOG_IN, answer)
        async with browser(console) as again:
            again.http.cookies.update(visitor.http.cookies)
            replayed = await answered(again, LOG_IN, answer)
        huge = await answered(visitor, LOG_IN, "x" * 70_000)

    assert found == dict.fromkeys(found, 401)
    assert (is_in, right.status_code, replayed.status_code) == (False, 303, 401)
    assert huge.status_code == 413
    assert [action for _, action, _ in await audited(console)].count(
        "console_user.passkey_used"
    ) == 1


async def test_a_passkey_confirms_where_password_and_code_would(console: Visiting) -> None:
    mine, others = await of_new_user(console, "ann"), await of_new_user(console, "ben")
    async with (
        browser(console) as visitor,
        browser(console) as elsewhere,
        console.connection() as conn,
    ):
        await visitor.log_in("ann")
        await conn.execute(console.unconfirmed("ann"))
        page = (await visitor.get(CONFIRM)).text
        trying = Trying(console, visitor, CONFIRM_WITH)
        found = await refusals(trying, mine, others, elsewhere)
        found["another person's"] = await trying.signed(others.but(count=9))
        await conn.execute("UPDATE mailqueue.console_sessions SET confirmed_at = clock_timestamp()")
        options = await asked(visitor, ADD)
        await conn.execute(console.unconfirmed("ann"))
        await asked(visitor, CONFIRM_WITH)
        found["for adding one"] = await trying.status(mine.but(count=9).sign(options))
        still = await visitor.get(PASSKEYS)
        options = await asked(visitor, CONFIRM_WITH)
        answer = mine.but(count=9, user_handle=None).sign(options)
        right = await answered(visitor, CONFIRM_WITH, answer, next=PASSKEYS)
        after = await visitor.get(PASSKEYS)
        await conn.execute(console.unconfirmed("ann"))
        replayed = await trying.status(answer)
        last = await visitor.get(PASSKEYS)

    assert "Confirm with a passkey" in page
    assert found == dict.fromkeys(found, 422)
    assert [each["id"] for each in options["allowCredentials"]] == [text(mine.credential_id)]
    assert (still.status_code, right.headers["location"]) == (303, PASSKEYS)
    assert (after.status_code, replayed, last.status_code) == (200, 422, 303)
    assert (await audited(console))[-1][2]["for"] == "confirm"


async def test_a_count_that_goes_back_is_refused_and_audited(console: Visiting) -> None:
    passkey = await of_new_user(console, count=5)
    async with browser(console) as visitor, console.connection() as conn:
        counts = {}
        for count in (4, 5, 0, 6):
            options = await asked(visitor, LOG_IN)
            response = await answered(visitor, LOG_IN, passkey.but(count=count).sign(options))
            counts[count] = response.status_code
            await conn.execute(FORGET)
            if count == 4:
                said = response.text
        forged = passkey.but(count=1, key=device().key)
        await answered(visitor, LOG_IN, forged.sign(await asked(visitor, LOG_IN)))
    refused = [each for each in await audited(console) if each[1].endswith("refused")]

    assert counts == {4: 401, 5: 401, 0: 401, 6: 303}
    assert "counts fewer uses" in said
    assert [each[2]["count"] for each in refused] == [4, 5, 0], "of right signatures alone"
    assert refused[0][2] | {"address": ""} == {
        "passkey": "laptop",
        "for": "log in",
        "address": "",
        "count": 4,
        "count_before": 5,
    }


async def test_a_device_that_does_not_count_logs_in_again_and_again(console: Visiting) -> None:
    passkey = await of_new_user(console, count=0)
    async with browser(console) as visitor:
        statuses = [
            (
                await answered(visitor, LOG_IN, passkey.sign(await asked(visitor, LOG_IN)))
            ).status_code
            for _ in range(3)
        ]

    assert statuses == [303] * 3


async def test_removed_passkeys_and_persons_are_not_let_in(console: Visiting) -> None:
    passkey = await of_new_user(console)
    async with browser(console) as visitor, console.connection() as conn:
        options = await asked(visitor, LOG_IN)
        await conn.execute("SELECT mailqueue.remove_console_user('ann', 'tests')")
        left = await make.scalar(conn, "SELECT count(*) FROM mailqueue.console_passkeys")
        gone = await answered(visitor, LOG_IN, passkey.but(count=2).sign(options))

    assert (left, gone.status_code) == (0, 401)


async def test_a_user_without_password_is_refused_by_the_database_too(console: Visiting) -> None:
    passkey = await of_new_user(console)
    async with browser(console) as visitor, console.connection() as conn:
        await conn.execute(
            "UPDATE mailqueue.console_users SET password_hash = NULL, subject = 'ann',"
            " issuer = 'https://login.example.com'"
        )
        refused = await log_in(visitor, passkey)

    assert refused.status_code == 401


async def test_a_new_password_leaves_passkeys_and_a_passkey_needs_no_code(
    console: Visiting,
) -> None:
    await console.add_user("ann", origin=URL)
    async with browser(console) as visitor, console.connection() as conn:
        await visitor.log_in("ann")
        passkey = await added(visitor)
        await conn.execute(
            "INSERT INTO mailqueue.console_second_factors"
            " (user_id, master_key_id, sealed, session_id, turned_on_at)"
            " SELECT id, 'key', '', id, now() FROM mailqueue.console_users"
        )
        await conn.execute("UPDATE mailqueue.console_users SET password_hash = 'another'")
        entered = await log_in(visitor, passkey)
        inside = await is_logged_in(visitor)

    assert (entered.headers["location"], inside) == ("/console", True)


async def test_attempts_are_slowed_like_passwords_and_challenges_like_logins_at_an_issuer(
    console: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    passkey = await of_new_user(console)
    monkeypatch.setattr("mailqueue.admin.users.attempts.asyncio.sleep", sleep)
    async with browser(console, address="192.0.2.1") as attacker, console.connection() as conn:
        statuses = [(await answered(attacker, LOG_IN, "{}")).status_code for _ in range(18)]
        await conn.execute(FORGET)
        begun = [
            (await attacker.post(f"{LOG_IN}/begin", {"token": ""})).status_code for _ in range(140)
        ]
        said = await attacker.post(f"{LOG_IN}/begin", {"token": ""})
        async with browser(console, address="192.0.2.2") as visitor:
            right = await log_in(visitor, passkey)

    assert (statuses[:10], statuses[-1]) == ([401] * 10, 429)
    assert waits
    assert (begun[:100], begun[-1]) == ([200] * 100, 429)
    assert (said.headers["content-type"].partition(";")[0], said.status_code) == ("text/plain", 429)
    assert right.status_code == 303


async def test_a_passkey_from_another_site_begins_no_session(console: Visiting) -> None:
    passkey = await of_new_user(console)
    async with browser(console) as visitor:
        answer = passkey.but(count=2).sign(await asked(visitor, LOG_IN))
        sent = [
            await visitor.post(path, {"credential": answer}, Origin="https://evil.example.com")
            for path in (LOG_IN, f"{LOG_IN}/begin")
        ]
        account = await visitor.get(ACCOUNT)

    assert [each.status_code for each in sent] == [403, 403]
    assert account.status_code == 303


async def test_a_reset_is_before_or_after_a_use_and_its_session(
    console: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    passkey = await of_new_user(console)
    confirm_session = store.confirm_session
    waited: list[str] = []

    async def note(act: str) -> None:
        async with console.connection() as conn:
            with pytest.raises(LockNotAvailable):
                await conn.execute("SELECT FROM mailqueue.console_users FOR NO KEY UPDATE NOWAIT")
        waited.append(act)

    async def beginning(*given: Any, **named: Any) -> Any:
        await note("begin")
        return await begin_session(*given, **named)

    async def confirming(*given: Any, **named: Any) -> Any:
        await note("confirm")
        return await confirm_session(*given, **named)

    monkeypatch.setattr(passkeys, "begin_session", beginning)
    monkeypatch.setattr(store, "confirm_session", confirming)
    async with browser(console) as visitor:
        entered = await log_in(visitor, passkey)
        answer = passkey.but(count=9).sign(await asked(visitor, CONFIRM_WITH))
        confirmed = await answered(visitor, CONFIRM_WITH, answer)

    assert (entered.status_code, confirmed.status_code) == (303, 303)
    assert waited == ["begin", "confirm"]
