"""The second factor on the account page: turned on, renewed, turned off, reset and required."""

import time

import pyotp
import pytest

from mailqueue.admin.users.second_factor import factors
from tests import make
from tests.console.second_factor.device import (
    ACCOUNT,
    CODE,
    CODES,
    OFF,
    ON,
    PAGE,
    PICTURE,
    added,
    forget,
    is_logged_in,
    log_in,
    shown_on,
    turn_on,
)
from tests.console.visiting import PASSWORD, Visiting

pytestmark = pytest.mark.anyio
BEGIN = f"{PAGE}/begin"


async def actions(console: Visiting) -> list[tuple[str, str]]:
    async with console.connection() as conn:
        rows = await make.rows(
            conn,
            "SELECT actor, action FROM mailqueue.audit_events"
            " WHERE action ~ 'second_factor|recovery' ORDER BY id",
        )
    return [(row[0], row[1]) for row in rows]


async def test_a_second_factor_is_on_after_its_first_code_and_not_before(
    console: Visiting,
) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor, console.visitor() as elsewhere:
        await visitor.log_in("ann")
        await elsewhere.log_in("ann")
        off = (await visitor.get(ACCOUNT)).text
        await visitor.submit(PAGE, BEGIN)
        page = await visitor.get(ON)
        again = await visitor.get(ON)
        picture = await visitor.get(PICTURE)
        (secret,) = shown_on(page.text)
        app = pyotp.TOTP(secret.replace(" ", ""))
        right = {app.at(int(time.time()) + 30 * step) for step in range(-2, 3)}
        guess = next(text for text in map("{:06}".format, range(10)) if text not in right)
        wrong = await visitor.submit(ON, ON, code=guess)
        async with console.visitor() as other:
            alone = await other.log_in("ann")
            unseen = [await other.get(path) for path in (ON, PICTURE)]
        done = await visitor.submit(ON, ON, code=app.now())
        after = [await visitor.get(path) for path in (ON, PICTURE)]
        others = await is_logged_in(elsewhere)
        on = (await visitor.get(ACCOUNT)).text
        asked = await elsewhere.log_in("ann")

    assert "Turn on a second factor" in off
    assert (page.status_code, page.text.count(secret)) == (200, 1)
    assert shown_on(again.text) == [secret]
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.headers["cache-control"] == page.headers["cache-control"] == "no-store"
    assert f'src="{PICTURE}"' in page.text
    assert (wrong.status_code, guess in wrong.text) == (422, False)
    assert shown_on(wrong.text) == [secret], "another code may be tried"
    assert alone.headers["location"] == "/console", "it was not on yet"
    assert [each.status_code for each in unseen] == [303, 404], "another session is not shown it"
    assert (done.status_code, len(set(shown_on(done.text)))) == (200, 10)
    assert [each.status_code for each in after] == [303, 404], "it is not shown again"
    assert not others, "sessions that began with the password alone have ended"
    assert ("On since" in on, "10 recovery codes are left" in on) == (True, True)
    assert asked.headers["location"].startswith(CODE)
    assert await actions(console) == [("ann (console)", "console_user.second_factor_on")]


async def test_the_code_that_turned_it_on_is_used_up(console: Visiting) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor, console.visitor() as other:
        await visitor.log_in("ann")
        await visitor.submit(PAGE, BEGIN)
        app = pyotp.TOTP(shown_on((await visitor.get(ON)).text)[0].replace(" ", ""))
        code = app.now()
        await visitor.submit(ON, ON, code=code)
        replayed = await log_in(other, code)

    assert replayed.status_code == 401


async def test_a_new_secret_needs_a_recent_login_and_ends_by_itself(
    console: Visiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor, console.connection() as conn:
        await visitor.log_in("ann")
        fields = await visitor.form(PAGE, BEGIN)
        await conn.execute(console.unconfirmed("ann"))
        old = await visitor.post(BEGIN, fields)
        await visitor.submit("/console/confirm", "/console/confirm", password=PASSWORD)
        await visitor.post(BEGIN, fields)
        form = await visitor.form(ON, ON)
        app = pyotp.TOTP(shown_on((await visitor.get(ON)).text)[0].replace(" ", ""))
        await conn.execute(
            "UPDATE mailqueue.console_second_factors SET begun_at = now() - interval '15 min 1 s'"
        )
        gone = await visitor.get(ON)
        late = await visitor.post(ON, form | {"code": app.now()})

    assert factors.BEGUN_LASTS.total_seconds() == 900
    assert old.headers["location"].startswith("/console/confirm?next=")
    assert (gone.headers["location"], late.status_code) == (PAGE, 409)


async def test_beginning_again_makes_another_secret_and_one_that_is_on_stays(
    console: Visiting,
) -> None:
    await console.add_user("ann")
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        begin = await visitor.form(PAGE, BEGIN)
        await visitor.post(BEGIN, begin)
        first = shown_on((await visitor.get(ON)).text)
        device = await turn_on(visitor)
        refused = await visitor.post(BEGIN, begin)
        await visitor.submit(ACCOUNT, "/console/logout")
        await forget(console)
        entered = await log_in(visitor, device.code())

    assert first != [device.app.secret]
    assert (refused.status_code, entered.status_code) == (409, 303)


async def test_recovery_codes_are_replaced_by_password_and_code(console: Visiting) -> None:
    device = await added(console)
    async with console.visitor() as visitor, console.visitor() as other:
        await log_in(visitor, device.code())
        await forget(console)
        refused = [
            (await visitor.submit(CODES, CODES, password=PASSWORD, code=device.wrong_code())),
            (await visitor.submit(CODES, CODES, password="not mine", code=device.code())),
        ]
        done = await visitor.submit(CODES, CODES, password=PASSWORD, code=device.code())
        fresh = shown_on(done.text)
        old = await log_in(other, device.recovery[0])
        new = await log_in(other, fresh[0])

    assert [each.status_code for each in refused] == [422, 422]
    for each in refused:
        assert "not your password, or the code is wrong" in each.text
        assert not any(text in each.text for text in (PASSWORD, "not mine", device.code()))
    assert (len(set(fresh)), set(fresh) & set(device.recovery)) == (10, set())
    assert (old.status_code, new.status_code) == (401, 303)


async def test_it_is_turned_off_by_password_and_code_together(console: Visiting) -> None:
    device = await added(console)
    async with console.visitor() as visitor, console.connection() as conn:
        await log_in(visitor, device.code())
        await forget(console)
        refused = [
            (await visitor.submit(OFF, OFF, password=password, code=code)).status_code
            for password, code in (
                (PASSWORD, device.wrong_code()),
                (PASSWORD, ""),
                ("not mine", device.code()),
            )
        ]
        asked = (await visitor.get(OFF)).status_code
        done = await visitor.submit(OFF, OFF, password=PASSWORD, code=device.recovery[0])
        page = await visitor.get(done.headers["location"])
        left = await make.scalar(conn, "SELECT count(*) FROM mailqueue.console_recovery_codes")
        await visitor.submit(ACCOUNT, "/console/logout")
        alone = await visitor.log_in("ann")

    assert (refused, asked) == ([422, 422, 422], 200)
    assert "The second factor is off" in page.text
    assert (left, alone.headers["location"]) == (0, "/console")
    assert ("ann (console)", "console_user.second_factor_off") in await actions(console)


async def test_a_superadmin_sees_who_has_one_and_resets_it(console: Visiting) -> None:
    await console.add_user("sue")
    device = await added(console)
    async with (
        console.visitor() as sue,
        console.visitor() as ann,
        console.connection() as conn,
    ):
        await sue.log_in("sue")
        await log_in(ann, device.code())
        listed = (await sue.get("/console/users")).text
        user = await make.scalar(conn, "SELECT id FROM mailqueue.console_users WHERE name = 'ann'")
        path = f"/console/users/one/{user}"
        shown = (await sue.get(path)).text
        await conn.execute(console.unconfirmed("sue"))
        unproved = await sue.get(f"{path}/reset")
        await sue.submit("/console/confirm", "/console/confirm", password=PASSWORD)
        fields = await sue.form(f"{path}/reset", f"{path}/reset")
        done = await sue.post(f"{path}/reset", fields)
        twice = await sue.post(f"{path}/reset", fields)
        after = (await sue.get(path)).text
        out = await is_logged_in(ann)
        alone = await ann.log_in("ann")

    assert listed.count("second factor on") == 1
    assert "Reset second factor" in shown
    assert unproved.headers["location"].startswith("/console/confirm?next=")
    assert done.headers["location"] == f"{path}?done=reset"
    assert twice.headers["location"] == f"{path}?done=before"
    assert "Reset second factor" not in after
    assert (out, alone.headers["location"]) == (False, "/console")
    assert (await actions(console))[-1] == ("sue (console)", "console_user.second_factor_reset")


async def test_a_removed_user_leaves_no_secret(console: Visiting) -> None:
    await added(console)
    async with console.connection() as conn:
        await conn.execute("SELECT mailqueue.remove_console_user('ann', 'tests')")
        left = await make.scalar(conn, "SELECT count(*) FROM mailqueue.console_second_factors")

    assert left == 0


async def test_a_session_without_the_code_is_refused_by_the_database_too(
    console: Visiting,
) -> None:
    """Where a second factor is turned on while a login is judged."""
    await added(console)
    async with console.connection() as conn:
        begun = await make.scalar(
            conn,
            "SELECT mailqueue.begin_console_session(id, '\\x01', '\\x02', NULL, NULL, '1 h',"
            " password_hash, false) FROM mailqueue.console_users",
        )
        whole = await make.scalar(
            conn,
            "SELECT mailqueue.begin_console_session(id, '\\x01', '\\x02', NULL, NULL, '1 h',"
            " password_hash, true) FROM mailqueue.console_users",
        )
        proved = await make.scalar(
            conn,
            "SELECT mailqueue.confirm_console_session(s.id, u.password_hash, NULL, NULL, false)"
            " FROM mailqueue.console_users AS u"
            " JOIN mailqueue.console_sessions AS s ON s.user_id = u.id AND s.ended_at IS NULL",
        )

    assert (begun, whole is not None, proved) == (None, True, False)
