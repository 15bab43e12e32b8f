"""The pages of a second factor in Chromium, each in its states, by mouse and keyboard."""

import time

import pyotp
import pytest
from playwright.async_api import Browser

from mailqueue.settings.environment import DatabaseSettings
from tests.console.looking import Seen, faults_of, looking_at, shown
from tests.console.second_factor.device import (
    ACCOUNT,
    CODE,
    CODES,
    CONFIRM,
    MASTER,
    OFF,
    ON,
    PAGE,
    PICTURE,
    forget,
)
from tests.console.visiting import PASSWORD

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


async def looked_at(seen: Seen, name: str) -> list[str]:
    """Return what is wrong with the page that is open, and keep its pictures."""
    faults = await faults_of(seen, name)
    await shown(seen, f"second-factor-{name}")
    return faults


async def test_a_second_factor_is_turned_on_used_and_turned_off(
    database: DatabaseSettings, browser: Browser
) -> None:
    faults: list[str] = []
    options = {"master_key": MASTER, "console_require_second_factor": True}
    async with looking_at(database, browser, **options) as seen:
        page = seen.page
        await seen.log_in()
        await page.goto(f"{seen.url}/console")
        assert page.url == f"{seen.url}{PAGE}"
        faults += await looked_at(seen, "required")
        await page.get_by_role("button", name="Show the QR code").click()
        await page.wait_for_url(f"{seen.url}{ON}")
        picture = page.locator("img.qr")
        assert await picture.evaluate("one => one.complete && one.naturalWidth > 0")
        secret = await page.locator("pre code").inner_text()
        app = pyotp.TOTP(secret.replace(" ", ""))
        faults += await looked_at(seen, "secret")
        await page.get_by_label("Code that the app shows now").fill(app.now())
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Recovery codes").wait_for()
        recovery = (await page.get_by_label("Recovery codes").inner_text()).split()
        faults += await looked_at(seen, "recovery")
        await page.get_by_role("link", name="I have kept them").click()
        for path, name in (
            (ACCOUNT, "account"),
            (PAGE, "on"),
            (CODES, "codes"),
            (OFF, "off"),
            (CONFIRM, "confirm"),
        ):
            await page.goto(f"{seen.url}{path}")
            assert page.url == f"{seen.url}{path}"
            faults += await looked_at(seen, name)

        await page.get_by_role("button", name="Log out").click()
        await page.get_by_label("Name").fill("ann")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.keyboard.press("Enter")
        await page.wait_for_url(f"{seen.url}{CODE}?**")
        faults += await looked_at(seen, "login")
        await forget(seen.console)
        # The field has the focus.
        await page.keyboard.type(app.at(int(time.time()) + 30))
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Log out").wait_for()
        await page.goto(f"{seen.url}{OFF}")
        await page.get_by_label("Your password").fill(PASSWORD)
        await page.get_by_label("Code of your app").fill(recovery[0])
        await page.get_by_role("button", name="Turn off").click()
        await page.get_by_text("asks everyone").wait_for()

    assert faults == []
    assert seen.complaints == []
    assert [url for url in seen.requests if not url.startswith(seen.url)] == []
    assert f"{seen.url}{PICTURE}" in seen.requests
