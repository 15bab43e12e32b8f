"""Where a second factor is required of everyone with a password, or cannot be had."""

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests.console.login.hostile import at_issuer
from tests.console.second_factor.device import (
    ACCOUNT,
    MASTER,
    OFF,
    PAGE,
    forget,
    log_in,
    turn_on,
    with_key,
)
from tests.console.visiting import PASSWORD, visiting

pytestmark = pytest.mark.anyio
BEGIN = f"{PAGE}/begin"


async def test_where_it_is_required_nothing_else_opens_before_it_is_on(
    database: DatabaseSettings,
) -> None:
    async with with_key(database, console_require_second_factor=True) as console:
        await console.add_user("ann")
        async with console.visitor() as visitor:
            entered = await visitor.log_in("ann", next="/console/users")
            led = [
                (await visitor.get(path)).headers.get("location")
                for path in ("/console/users", "/console", ACCOUNT, "/console/audit")
            ]
            written = await visitor.post(
                "/console/users/sessions", {"token": visitor.token("/console/users/sessions")}
            )
            part = await visitor.http.get("/console/users", headers={"HX-Request": "true"})
            page = await visitor.get(PAGE)
            device = await turn_on(visitor)
            after = [(await visitor.get(path)).status_code for path in ("/console/users", ACCOUNT)]
        await forget(console)
        async with console.visitor() as visitor:
            logged = await log_in(visitor, device.code())
            free = await visitor.get("/console/users")
            await forget(console)
            await visitor.submit(OFF, OFF, password=PASSWORD, code=device.code())
            back = await visitor.get("/console/users")
            out = await visitor.submit(PAGE, "/console/logout")

    assert entered.headers["location"] == "/console/users"
    assert led == [PAGE] * 4
    assert written.headers["location"] == PAGE
    assert part.headers["hx-redirect"] == PAGE
    assert ("asks everyone" in page.text, 'aria-label="Console"' in page.text) == (True, False)
    assert (after, logged.status_code, free.status_code) == ([200, 200], 303, 200)
    assert back.headers["location"] == PAGE
    assert out.headers["location"] == "/console/login"


async def test_users_of_an_issuer_have_none_here_and_need_none(
    database: DatabaseSettings,
) -> None:
    options = {"console_require_second_factor": True, "master_key": MASTER}
    async with at_issuer(database, **options) as at, at.console.visitor() as visitor:
        await at.log_in(visitor, groups=["admins"])
        users = await visitor.get("/console/users")
        page = await visitor.get(PAGE)
        begun = await visitor.post(BEGIN, {"token": visitor.token(BEGIN)})
        account = await visitor.get(ACCOUNT)

    assert (users.status_code, page.status_code, begun.status_code) == (200, 409, 409)
    assert "Second factor" not in account.text


async def test_without_a_master_key_none_is_begun(database: DatabaseSettings) -> None:
    async with with_key(database) as console:
        await console.add_user("ann")
    async with visiting(database) as console, console.visitor() as visitor:
        await visitor.log_in("ann")
        begun = await visitor.submit(PAGE, BEGIN)

    assert (begun.status_code, "master key" in begun.text) == (503, True)
