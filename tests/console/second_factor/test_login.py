"""Logins with a second factor: the code after the password, once, and slowed."""

import asyncio
import time

import pytest

from mailqueue.admin.users.second_factor import unfinished
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.vault.masterkey import MasterKey, parse_master_key
from tests import make
from tests.console.second_factor.device import (
    ACCOUNT,
    CODE,
    LOGIN,
    MASTER,
    added,
    forget,
    is_logged_in,
    log_in,
    with_key,
)
from tests.console.visiting import PASSWORD, Visiting, visiting

pytestmark = pytest.mark.anyio
EMAILS = "/console/projects/default/emails"


async def test_the_password_alone_begins_no_session_and_the_code_leads_on(
    console: Visiting,
) -> None:
    device = await added(console)
    async with console.visitor() as visitor:
        asked = await visitor.log_in("ann", next=EMAILS)
        before = await visitor.get(EMAILS)
        page = await visitor.get(asked.headers["location"])
        form = await visitor.form(asked.headers["location"], CODE)
        wrong = await visitor.post(CODE, form | {"code": device.wrong_code()})
        right = await visitor.post(CODE, form | {"code": device.code()})
        after = await visitor.get(EMAILS)
        names = set(visitor.http.cookies)

    assert (asked.status_code, before.status_code) == (303, 303)
    assert (page.status_code, 'autocomplete="one-time-code"' in page.text) == (200, True)
    assert (wrong.status_code, "The code is wrong" in wrong.text) == (401, True)
    assert form["next"] == EMAILS
    assert f'value="{EMAILS}"' in wrong.text, "the way back stays"
    assert device.wrong_code() not in wrong.text
    assert (right.headers["location"], after.status_code) == (EMAILS, 200)
    assert names == {"mailqueue_session", "mailqueue_browser"}, "the unfinished login is removed"


async def test_a_wrong_password_and_an_unknown_name_are_refused_alike_without_a_code(
    console: Visiting,
) -> None:
    await added(console)
    async with console.visitor() as visitor:
        wrong = await visitor.log_in("ann", "not the password")
        unknown = await visitor.log_in("nobody", "not the password")
        code = await visitor.post(CODE, {"code": "000000"})

    assert wrong.status_code == unknown.status_code == 401
    assert unknown.text.replace("nobody", "ann") == wrong.text
    assert "mailqueue_code" not in visitor.http.cookies
    assert (code.status_code, "begin again" in code.text) == (401, True)


async def test_a_code_acts_once_and_makes_earlier_ones_void(console: Visiting) -> None:
    device = await added(console)
    later, now = device.code(later=1), device.code()
    async with console.visitor() as one, console.visitor() as other:
        first = await log_in(one, later)
        again = await log_in(other, later)
        earlier = await log_in(other, now)

    assert [each.status_code for each in (first, again, earlier)] == [303, 401, 401]


async def test_a_code_that_is_sent_by_many_at_once_begins_one_session(console: Visiting) -> None:
    device = await added(console)
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        kept, code = visitor.http.cookies["mailqueue_code"], device.code()

        async def sent() -> int:
            async with console.visitor() as twin:
                twin.http.cookies.set("mailqueue_code", kept)
                return (await twin.post(CODE, {"code": code})).status_code

        statuses = await asyncio.gather(*(sent() for _ in range(6)))

    assert sorted(statuses) == [303, 401, 401, 401, 401, 401]


async def test_a_recovery_code_logs_in_once_and_only_its_user(console: Visiting) -> None:
    ann, ben = await added(console), await added(console, "ben")
    typed = ann.recovery[0].upper().replace("-", " ")
    async with console.visitor() as visitor, console.connection() as conn:
        others = await log_in(visitor, ben.recovery[0])
        first = await log_in(visitor, typed)
        page = await visitor.get(ACCOUNT)
        await visitor.submit(ACCOUNT, "/console/logout")
        again = await log_in(visitor, ann.recovery[0])
        noted = await make.rows(
            conn,
            "SELECT actor, subject, detail FROM mailqueue.audit_events"
            " WHERE action = 'console_user.recovery_code_used'",
        )

    assert [each.status_code for each in (others, first, again)] == [401, 303, 401]
    assert "9 recovery codes are left" in page.text
    assert noted == [("ann (console)", "user ann", {"left": 9})]


async def test_neither_secrets_nor_codes_stand_in_the_database_or_the_log(
    console: Visiting, capfd: pytest.CaptureFixture[str]
) -> None:
    device = await added(console)
    async with console.visitor() as visitor, console.connection() as conn:
        code = device.code()
        await log_in(visitor, device.wrong_code())
        await log_in(visitor, code)
        rows = [
            await make.scalar(
                conn, f"SELECT coalesce(string_agg(t::text, ''), '') FROM mailqueue.{table} AS t"
            )
            for table in (
                "console_second_factors",
                "console_recovery_codes",
                "console_users",
                "console_sessions",
                "audit_events",
            )
        ]
    stored = "".join(rows)
    seen = stored + "".join(capfd.readouterr())

    secret = device.app.byte_secret()
    assert secret.hex() not in seen
    assert device.app.secret not in seen
    for each in device.recovery:
        assert each not in seen
        assert each.replace("-", "").encode().hex() not in seen
    assert f'"{code}"' not in stored


async def test_a_wrong_code_after_the_right_password_is_recorded(console: Visiting) -> None:
    device = await added(console)
    async with console.visitor(address="192.0.2.7") as visitor, console.connection() as conn:
        await log_in(visitor, device.wrong_code())
        noted = await make.rows(
            conn,
            "SELECT actor, subject, detail FROM mailqueue.audit_events"
            " WHERE action = 'console_user.code_refused'",
        )

    assert noted == [("ann (console)", "user ann", {"address": "192.0.2.7"})]


async def test_an_unfinished_login_ends_with_time_and_password_and_cannot_be_forged(
    console: Visiting,
) -> None:
    device = await added(console)
    async with console.connection() as conn:
        ((user, stored),) = await make.rows(
            conn, "SELECT id, password_hash FROM mailqueue.console_users"
        )
    master = parse_master_key(MASTER, source="tests")
    fresh, late = (
        unfinished.keep(master, user, stored, now=time.time() - age).reveal() for age in (200, 301)
    )

    async def kept() -> str:
        async with console.visitor() as visitor:
            await visitor.log_in("ann")
            value: str = visitor.http.cookies["mailqueue_code"]
            return value

    async def answer(value: str) -> tuple[int, bool]:
        await forget(console)
        async with console.visitor() as visitor:
            visitor.http.cookies.set("mailqueue_code", value)
            response = await visitor.post(CODE, {"code": device.code()})
            return response.status_code, await is_logged_in(visitor)

    real = await kept()
    name, key, sealed = real.split(".")
    stranger = unfinished.keep(MasterKey(bytes(32)), user, stored, now=time.time()).reveal()
    refused = [
        await answer(each)
        for each in (
            late,
            stranger,
            stranger.replace(stranger.split(".")[1], key),
            "",
            "x",
            "..",
            f"{name}.{key}.",
            f"{name}.{key}.{sealed[:-4]}",
            f"{name}.0000000000000000.{sealed}",
            f"{'0' * 32}.{key}.{sealed}",
            f"{name}.{key}.~",
        )
    ]
    right = [await answer(each) for each in (real, fresh)]
    before = await kept()
    async with console.visitor() as visitor:
        await forget(console)
        await log_in(visitor, device.code())
        await visitor.submit(
            ACCOUNT,
            f"{ACCOUNT}/password",
            current=PASSWORD,
            password="staple battery horse",
            again="staple battery horse",
        )
    refused.append(await answer(before))

    assert right == [(303, True)] * 2
    assert refused == [(401, False)] * len(refused)


async def test_a_code_from_another_site_begins_no_session(console: Visiting) -> None:
    device = await added(console)
    async with console.visitor() as visitor:
        await visitor.log_in("ann")
        sent = await visitor.post(CODE, {"code": device.code()}, Origin="https://evil.example.com")

    assert (sent.status_code, "mailqueue_session" in visitor.http.cookies) == (403, False)


@pytest.mark.parametrize("path", ["//evil.example.com", "https://evil.example.com", "/\\evil"])
async def test_after_the_code_a_browser_stays_in_the_console(console: Visiting, path: str) -> None:
    device = await added(console)
    async with console.visitor() as visitor:
        asked = await visitor.log_in("ann", next=path)
        response = await visitor.post(CODE, {"code": device.code(), "next": path})

    assert asked.headers["location"] == f"{CODE}?next=%2Fconsole"
    assert response.headers["location"] == "/console"


async def test_the_page_of_the_code_needs_the_password_first(console: Visiting) -> None:
    device = await added(console)
    async with console.visitor() as visitor:
        without = await visitor.get(CODE)
        await log_in(visitor, device.code())
        within = await visitor.get(CODE)

    assert (without.status_code, without.headers["location"]) == (303, f"{LOGIN}?next=%2Fconsole")
    assert (within.status_code, within.headers["location"]) == (303, "/console")


async def test_without_its_master_key_a_login_says_so_and_is_refused(
    database: DatabaseSettings,
) -> None:
    async with with_key(database) as console:
        device = await added(console)
    async with visiting(database) as console, console.visitor() as visitor:
        none = await visitor.log_in("ann")
    other = "ff" * 32
    async with visiting(database, master_key=other) as console, console.visitor() as visitor:
        wrong = await log_in(visitor, device.code())

    assert (none.status_code, "master key" in none.text) == (503, True)
    assert (wrong.status_code, "cannot be opened" in wrong.text) == (503, True)
