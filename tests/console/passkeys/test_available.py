"""Who can have passkeys, and where."""

import pytest

from mailqueue.settings.environment import DatabaseSettings
from tests.console.login.hostile import at_issuer
from tests.console.passkeys.using import (
    ACCOUNT,
    ADD,
    CONFIRM,
    LOG_IN,
    PASSKEYS,
    URL,
    answered,
    asked,
    browser,
    device,
    with_host,
)
from tests.console.visiting import PASSWORD, Visiting, visiting

pytestmark = pytest.mark.anyio


async def test_users_of_an_issuer_have_none(database: DatabaseSettings) -> None:
    async with at_issuer(database) as at, at.console.visitor() as visitor:
        await at.log_in(visitor, groups=["admins"])
        account = await visitor.get(ACCOUNT)
        page = await visitor.get(PASSKEYS)
        login = await visitor.get(CONFIRM)

    assert ("Passkeys" in account.text, page.status_code) == (False, 409)
    assert "passkey" not in login.text


async def test_a_user_who_went_to_an_issuer_adds_none(console: Visiting) -> None:
    await console.add_user("ann", origin=URL)
    async with browser(console) as visitor, console.connection() as conn:
        await visitor.log_in("ann")
        answer = device().make(await asked(visitor, ADD))[1]
        await conn.execute(
            "UPDATE mailqueue.console_users SET password_hash = NULL, subject = 'ann',"
            " issuer = 'https://login.example.com'"
        )
        statuses = [
            (await visitor.get(PASSKEYS)).status_code,
            (await answered(visitor, ADD, answer, name="phone")).status_code,
        ]
        await asked(visitor, ADD, status=409)

    assert statuses == [409, 409]


@pytest.mark.parametrize("url", [None, "http://127.0.0.1:8025"])
async def test_without_a_host_name_there_are_none_and_pages_say_so(
    database: DatabaseSettings, url: str | None
) -> None:
    async with visiting(database, console_url=url) as console, console.visitor() as visitor:
        await console.add_user("ann")
        login = (await visitor.get("/console/login")).text
        begun = await visitor.post(f"{LOG_IN}/begin", {"token": ""})
        sent = await visitor.post(LOG_IN, {"credential": "{}"})
        await visitor.log_in("ann", PASSWORD)
        account = (await visitor.get(ACCOUNT)).text
        page = await visitor.get(PASSKEYS)

    assert "passkey" not in login
    assert (begun.status_code, sent.status_code, page.status_code) == (409, 409, 200)
    assert "has none configured" in account


async def test_the_page_has_the_form_and_says_what_it_needs(database: DatabaseSettings) -> None:
    async with with_host(database) as console, browser(console) as visitor:
        await console.add_user("ann", origin=URL)
        login = (await visitor.get("/console/login")).text
        await visitor.log_in("ann")
        page = (await visitor.get(PASSKEYS)).text

    assert 'data-passkey="get"' in login
    assert login.count("hidden>") >= 1
    assert ("data-without>" in page, 'data-passkey="create"' in page) == (True, True)
