"""Passkeys in Chromium, by mouse: its virtual authenticator makes one, logs in and confirms."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, CDPSession, expect

from mailqueue.api.http.server import bind, listening
from mailqueue.settings.environment import DatabaseSettings
from tests.console.looking import Seen, faults_of, shown
from tests.console.passkeys.using import ACCOUNT, CONFIRM, PASSKEYS
from tests.console.visiting import PASSWORD, visiting

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


@asynccontextmanager
async def looking_at_host(
    database: DatabaseSettings, browser: Browser, *, with_script: bool = True
) -> AsyncIterator[Seen]:
    """A console at localhost: browsers make no passkeys for addresses."""
    with bind("127.0.0.1", 0, option="--port") as sock:
        url = f"http://localhost:{sock.getsockname()[1]}"
        async with visiting(database, console_url=url) as console:
            await console.add_user("ann", origin=url)
            async with listening(console.app, sock):
                context = await browser.new_context(java_script_enabled=with_script)
                page = await context.new_page()
                seen = Seen(console, page, url, [], [])
                page.on("pageerror", lambda error: seen.complaints.append(str(error)))
                page.on(
                    "console",
                    lambda said: (
                        seen.complaints.append(said.text) if said.type == "error" else None
                    ),
                )
                yield seen
                await context.close()


async def with_device(seen: Seen) -> tuple[CDPSession, str]:
    """Add a device that verifies its user to the browser; return the session and its id."""
    session = await seen.page.context.new_cdp_session(seen.page)
    await session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    added = await session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return session, added["authenticatorId"]


async def looked_at(seen: Seen, name: str) -> list[str]:
    """Return what is wrong with the page that is open, and keep its pictures."""
    faults = await faults_of(seen, name)
    await shown(seen, f"passkeys-{name}")
    return faults


async def test_a_passkey_is_added_and_used_by_mouse(
    database: DatabaseSettings, browser: Browser
) -> None:
    faults: list[str] = []
    async with looking_at_host(database, browser) as seen:
        page = seen.page
        session, device = await with_device(seen)
        await seen.log_in()
        await page.goto(f"{seen.url}{ACCOUNT}")
        faults += await looked_at(seen, "account-without")
        await page.get_by_role("link", name="Add a passkey").click()
        faults += await looked_at(seen, "none")
        await page.get_by_label("Name of the device").fill("Ann's laptop, the grey one")
        await page.get_by_role("button", name="Add a passkey").click()
        await page.wait_for_url(f"{seen.url}{PASSKEYS}?done=added")
        faults += await looked_at(seen, "added")
        kept = await session.send("WebAuthn.getCredentials", {"authenticatorId": device})

        await page.get_by_label("Name of the device").fill("the same")
        await page.get_by_role("button", name="Add a passkey").click()
        await expect(page.get_by_role("alert")).to_have_text(
            "This device has a passkey of yours already."
        )
        faults += await looked_at(seen, "twice")

        await page.get_by_role("button", name="Log out").click()
        await page.goto(f"{seen.url}/console/login?next={PASSKEYS}")
        faults += await looked_at(seen, "login")
        await page.get_by_role("button", name="Log in with a passkey").click()
        await page.wait_for_url(f"{seen.url}{PASSKEYS}")
        async with seen.console.connection() as conn:
            await conn.execute(seen.console.unconfirmed("ann"))
        await page.goto(f"{seen.url}{PASSKEYS}")
        assert page.url.startswith(f"{seen.url}{CONFIRM}?")
        faults += await looked_at(seen, "confirm")
        await page.get_by_role("button", name="Confirm with a passkey").click()
        await page.wait_for_url(f"{seen.url}{PASSKEYS}")
        await page.goto(f"{seen.url}{ACCOUNT}")
        await page.get_by_text("last used").first.wait_for()
        faults += await looked_at(seen, "account-with")

        await page.goto(f"{seen.url}{PASSKEYS}")
        await page.get_by_role("button", name="Remove Ann's laptop").click()
        await page.wait_for_url(f"{seen.url}{PASSKEYS}?done=removed")
        await page.get_by_role("button", name="Log out").click()
        await page.get_by_role("button", name="Log in with a passkey").click()
        await expect(page.get_by_role("alert").first).to_contain_text("does not log in here")
        faults += await looked_at(seen, "refused")

    assert faults == []
    assert len(kept["credentials"]) == 1
    assert [each for each in seen.complaints if "401" not in each] == []


async def test_a_device_that_does_not_verify_its_user_and_a_cancelled_one_say_so(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at_host(database, browser) as seen:
        page = seen.page
        session, device = await with_device(seen)
        await session.send(
            "WebAuthn.setUserVerified", {"authenticatorId": device, "isUserVerified": False}
        )
        await seen.log_in()
        await page.goto(f"{seen.url}{PASSKEYS}")
        await page.get_by_label("Name of the device").fill("phone")
        await page.get_by_role("button", name="Add a passkey").click()
        await expect(page.get_by_role("alert")).to_have_text(
            "No passkey was used: it was cancelled, or took too long."
        )
        await page.get_by_label("Name of the device").fill("")
        await page.get_by_role("button", name="Add a passkey").click()
        is_asked = "one => one.matches(':invalid')"
        assert await page.get_by_label("Name of the device").evaluate(is_asked)

    assert seen.complaints == []


async def test_without_script_the_buttons_are_hidden_and_the_password_logs_in(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at_host(database, browser, with_script=False) as seen:
        page = seen.page
        await page.goto(f"{seen.url}/console/login")
        assert await page.get_by_role("button").all_inner_texts() == ["Log in"]
        await page.get_by_label("Name").fill("ann")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Log out").wait_for()
        await page.goto(f"{seen.url}{PASSKEYS}")
        assert await page.get_by_text("needs script for it").is_visible()
        assert await page.get_by_role("button", name="Add a passkey").count() == 0
