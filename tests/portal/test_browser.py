"""The pages of persons in Chromium: axe-core has no fault, none is wider than the screen, and all
work by keyboard, with script and without.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from mailqueue.api.http.server import bind, listening
from mailqueue.core.secret import Secret
from mailqueue.portal.table import PAGES
from mailqueue.settings.environment import DatabaseSettings
from tests.console.looking import faults_of, shown
from tests.portal.filled import filled
from tests.portal.phoning import SETTINGS as PHONE_SETTINGS
from tests.portal.visiting import HOME, PASSWORD, Visiting, visiting
from tests.watch import watching

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

CLIENTS: dict[str, Any] = {
    "gmail_client_id": "example",
    "gmail_client_secret": Secret("example"),
    "slack_client_id": "1.2",
    "slack_client_secret": Secret("example"),
    **PHONE_SETTINGS,
}


async def typed(page: Page, name: str, text: str) -> None:
    """Type into the field of this name once it has the focus, which a loaded page gives it."""
    await expect(page.locator(f"[name={name}]")).to_be_focused(timeout=30_000)
    await page.keyboard.type(text)


@dataclass(frozen=True, slots=True)
class Seen:
    """The pages, a browser's page of them, and what the browser complained about."""

    portal: Visiting
    page: Page
    url: str
    complaints: list[str]

    async def log_in(self, email: str = "ann@example.com") -> None:
        await self.page.goto(f"{self.url}{HOME}")
        await self.page.get_by_label("Address").fill(email)
        await self.page.get_by_label("Password").fill(PASSWORD)
        await self.page.keyboard.press("Enter")
        await self.page.get_by_role("button", name="Log out").wait_for()


@asynccontextmanager
async def looking_at(
    database: DatabaseSettings, browser: Browser, **context: Any
) -> AsyncIterator[Seen]:
    async with visiting(database, **CLIENTS) as portal:
        with bind("127.0.0.1", 0, option="--port") as sock:
            async with listening(portal.app, sock) as url:
                opened = await browser.new_context(**context)
                page = await opened.new_page()
                seen = Seen(portal, page, url, [])
                page.on("pageerror", lambda error: seen.complaints.append(str(error)))
                page.on(
                    "console",
                    lambda said: (
                        seen.complaints.append(said.text) if said.type == "error" else None
                    ),
                )
                yield seen
                await opened.close()


async def test_no_page_hinders_anyone_by_screen_reader_or_telephone(
    database: DatabaseSettings, browser: Browser
) -> None:
    faults: list[str] = []
    async with looking_at(database, browser) as seen:
        ann = await seen.portal.person()
        link = await seen.portal.link(ann)
        paths = [("login", f"{HOME}/login"), ("forgotten", f"{HOME}/forgotten"), ("welcome", link)]
        for name, path in paths:
            faults += await faults_of(seen, name, path=path)
            await shown(seen, name)
        await seen.log_in()
        for name in ("", "/channels", "/rules", "/notifications"):
            faults += await faults_of(seen, f"empty{name}", path=HOME + name)
            await shown(seen, f"empty{name.replace('/', '-')}")
        async with seen.portal.connection() as conn:
            values = (await filled(conn, ann)).variables
        looked_at = 0
        for page in PAGES:
            if page.method != "GET" or page.is_public:
                continue
            looked_at += 1
            path = HOME + page.path.format(**values)
            faults += await faults_of(seen, path, path=path)
            await shown(seen, page.path.replace("/", "-").replace("{", "").replace("}", "") or "-")
        await seen.page.get_by_label("New password").scroll_into_view_if_needed()

    assert faults == []
    assert looked_at >= 12
    assert seen.complaints == []


@pytest.mark.parametrize("has_script", [True, False])
async def test_a_person_begins_at_an_invitation_and_does_everything_by_keyboard(
    database: DatabaseSettings, browser: Browser, has_script: bool
) -> None:
    async with looking_at(database, browser, java_script_enabled=has_script) as seen:
        page = seen.page
        async with seen.portal.connection() as conn:
            ann = await watching.user(conn)
        await page.goto(seen.url + await seen.portal.link(ann))
        await typed(page, "password", PASSWORD)
        await page.keyboard.press("Tab")
        await typed(page, "again", PASSWORD)
        await page.keyboard.press("Enter")
        await page.get_by_text("Your password is set").wait_for()
        await typed(page, "password", PASSWORD)
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Inboxes", exact=True).wait_for()
        await page.get_by_role("link", name="Add an inbox").press("Enter")
        await typed(page, "email_address", "ann@example.com")
        await page.keyboard.press("Tab")
        await typed(page, "host", "imap.example.com")
        await page.get_by_label("Password").press("a")
        await page.keyboard.press("Enter")
        await page.get_by_text("The inbox is added").wait_for()
        await page.get_by_role("button", name="Pause ann@example.com").press("Enter")
        await page.get_by_text("The inbox is paused").wait_for()
        await page.get_by_role("link", name="Rules").press("Enter")
        await page.get_by_role("link", name="Add a rule").press("Enter")
        await page.get_by_label("Pattern").fill("example.com")
        await page.get_by_label("Sender", exact=False).last.fill("ben@example.com")
        await page.keyboard.press("Enter")
        await page.get_by_text("The sample matches.").wait_for()
        await shown(seen, "rule-tried")
        await page.get_by_role("button", name="Save the rule").press("Enter")
        await page.get_by_text("The rule is added").wait_for()
        await page.get_by_role("link", name="Channels").press("Enter")
        await page.get_by_role("button", name="Connect Slack").press("Enter")
        await page.get_by_role("link", name="Continue at Slack").wait_for()
        await shown(seen, "slack")
        await page.get_by_role("button", name="Log out").press("Enter")
        await page.get_by_role("heading", name="Log in").wait_for()

    assert seen.complaints == []
