"""In Chromium: why an email has not arrived, and sending it again, in four clicks or one search."""

import asyncio
from uuid import UUID

import pytest
from playwright.async_api import Browser, Page, Route, expect

from mailqueue.db.fetch import Conn
from mailqueue.mail.model import Ending, LogStatus
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import Seen, looking_at, shown
from tests.mail.claim.steps import claim, settle

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

WHY = "450 4.2.2 mailbox full"
COUNT = "addEventListener('pointerdown', () => window.name = Number(window.name || 0) + 1, true)"

SHOWN = "document.addEventListener('live:shown', () => { document.body.dataset.shown = 1; })"


async def failed(conn: Conn) -> UUID:
    """Make an email that a server refused, one that waits, and an email of another project."""
    await make.sender_account(conn)
    email = await make.queued_email(conn, subject="Your order")
    claims = await claim(conn, await make.worker(conn))
    await settle(conn, claims, Ending.FAILED, log=LogStatus.FAILED, reason=WHY)
    shop = await make.project(conn, "shop")
    await make.queued_email(conn, project_id=shop, subject="News of the shop")
    await make.queued_email(conn, recipient_email="ben@example.com", subject="Another")
    return email


async def begun(seen: Seen) -> UUID:
    async with seen.console.connection() as conn:
        email = await failed(conn)
    await seen.log_in()
    return email


async def sent_again(seen: Seen, email: UUID) -> None:
    await expect(seen.page.get_by_role("status")).to_have_text(
        "The email is queued to be sent again."
    )
    async with seen.console.connection() as conn:
        status = await make.scalar(
            conn, "SELECT status FROM mailqueue.email_queue WHERE id = %s", email
        )
    assert status == "pending"
    assert seen.complaints == []


async def focus_on(page: Page, name: str) -> None:
    """Press Tab until the focus is on a link or button of that name."""
    for _ in range(60):
        await page.keyboard.press("Tab")
        if (await page.evaluate("document.activeElement.textContent")).strip().startswith(name):
            return
    raise AssertionError(f"{name} is not reached by Tab")


async def test_by_mouse_in_four_clicks_after_the_address_was_typed(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        email = await begun(seen)
        page = seen.page
        await page.add_init_script(COUNT)
        await page.reload()
        await page.keyboard.press("/")
        await page.keyboard.type("ann@example.com")
        found = page.locator("#found")
        await found.get_by_text("in default").wait_for()
        await shown(seen, "suggestions")
        await (
            found.get_by_role("link")
            .filter(has_text="ann@")
            .nth(0 if "default" in await found.locator("li").nth(0).inner_text() else 1)
            .click()
        )
        await page.get_by_role("link", name="Your order").click()
        await expect(page.locator(".why")).to_contain_text(WHY)
        await page.get_by_role("link", name="Send again").click()
        await page.get_by_role("button", name="Send again").click()
        await sent_again(seen, email)
        assert 0 < await page.evaluate("Number(window.name)") <= 4


async def test_by_keyboard_alone_with_one_search(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        email = await begun(seen)
        page = seen.page
        await page.add_init_script(COUNT)
        await page.reload()
        await page.keyboard.press("Control+k")
        await page.keyboard.type("ann@example.com")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/recipient?address=**")
        await expect(page.get_by_text("News of the shop")).to_be_visible()
        await shown(seen, "recipient-everywhere")
        for name in ("Your order", "Send again"):
            await focus_on(page, name)
            await page.keyboard.press("Enter")
            if name == "Your order":
                await expect(page.locator(".why")).to_contain_text(WHY)
        await page.get_by_role("button", name="Send again").wait_for()
        await page.keyboard.press("Enter")  # the focus is in the field of the reason
        await sent_again(seen, email)
        assert await page.evaluate("window.name") == ""


async def test_the_arrow_keys_move_among_matches_and_escape_closes_them(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        email = await begun(seen)
        page = seen.page
        field, links = page.locator("[data-find]"), page.locator("#found a")
        await page.keyboard.press("Control+k")
        await expect(field).to_be_focused()
        await page.keyboard.type(str(email))
        await expect(links).to_have_count(1)
        await page.keyboard.press("ArrowDown")
        await expect(links.first).to_be_focused()
        await page.keyboard.press("ArrowUp")
        await expect(field).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(links).to_have_count(0)
        await field.fill("zz-nothing")
        await expect(page.locator("#found")).to_contain_text("Nothing is named zz-nothing")
        await field.fill(str(email))
        await expect(links).to_have_count(1)
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await page.wait_for_url(f"**/emails/{email}")
        assert seen.complaints == []


async def test_a_late_answer_takes_no_match_away_and_opens_nothing_after_escape(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        email = await begun(seen)
        page = seen.page
        links, asked, answers = page.locator("#found a"), asyncio.Event(), asyncio.Event()

        async def late(route: Route) -> None:
            asked.set()
            await answers.wait()
            await route.continue_()

        for key in ("ArrowDown", "Escape"):
            await page.locator("[data-find]").fill(str(email))
            await expect(links).to_have_count(1)
            await page.route("**/find/suggestions?*", late)
            await page.keyboard.type(" ")
            await asked.wait()
            await page.keyboard.press(key)
            async with page.expect_response("**/find/suggestions?*"):
                answers.set()
            await page.evaluate("new Promise(done => setTimeout(done, 100))")
            if key == "ArrowDown":
                await expect(links.first).to_be_focused()
            else:
                await expect(links).to_have_count(0)
            await page.unroute("**/find/suggestions?*")
            asked.clear()
            answers.clear()
            await page.keyboard.press("Escape")


async def test_a_command_is_copied(database: DatabaseSettings, browser: Browser) -> None:
    async with looking_at(database, browser) as seen:
        email = await begun(seen)
        page = seen.page
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await page.add_init_script(SHOWN)
        await page.goto(f"{seen.url}/console/projects/default/emails/{email}")
        await page.locator("body[data-shown]").wait_for()  # it replaces the button
        await page.get_by_text("Commands for a shell").click()
        await page.get_by_role("button", name="Copy").click()
        await page.get_by_role("button", name="Copied").wait_for()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied == f"mailqueue email requeue {email}"
        await shown(seen, "email-commands")
        assert seen.complaints == []
