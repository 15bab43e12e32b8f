"""The console in a real browser: by keyboard, hostile names, and no request elsewhere."""

import pytest
from playwright.async_api import Browser

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import looking_at, shown
from tests.console.visiting import PASSWORD
from tests.trap.test_browser import tracking

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

HOSTILE = (
    "<script>document.title='pwned'</script>",
    "<img src=x onerror=\"document.title='pwned'\">",
    '"><svg onload=document.title="pwned">',
    "{{ 7 * 7 }}${7*7}",
    "\u202eevil\u202c \u2066x",
    "x" * 300,
)
"""Subjects that a page must show as text."""
MAIL = (
    "<h1>Order</h1><script>parent.document.title='pwned'</script>"
    "<img src='{tracker}/pixel.gif'><link rel=stylesheet href='{tracker}/x.css'>"
    "<form action='/console/logout' method=post>"
    "<button>x</button></form><style>h1 { color: green }</style>"
)


async def test_a_recipient_is_found_and_written_to_again_by_keyboard_and_mouse(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        async with seen.console.connection() as conn:
            email = await make.queued_email(conn, subject="Your order")
            await conn.execute(
                "SELECT mailqueue.cancel_emails(project_id, ARRAY[id], 'test')"
                " FROM mailqueue.email_queue"
            )
            await make.queued_email(conn, subject="Another", recipient_email="ben@example.com")
        page = seen.page
        await page.goto(f"{seen.url}/")
        await shown(seen, "login")
        await seen.log_in()
        await page.goto(f"{seen.url}/console/projects/default/emails")
        await shown(seen, "emails")
        await page.keyboard.press("/")
        await page.keyboard.type("ann@example.com")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/recipient?**")
        assert await page.locator("h1").inner_text() == "ann@example.com"
        assert await page.locator(".row:not(.head)").count() == 1
        await shown(seen, "recipient")

        await page.get_by_role("link", name="Your order").click()
        await page.wait_for_url(f"**/emails/{email}")
        await shown(seen, "email")
        await page.get_by_role("link", name="Send again").click()
        await shown(seen, "resend")
        assert await page.get_by_text("It was not sent. It is queued again").is_visible()
        await page.get_by_label("Reason").fill("the customer called")
        await page.keyboard.press("Enter")
        await page.get_by_role("status").wait_for()
        assert await page.get_by_role("status").inner_text() == (
            "The email is queued to be sent again."
        )
        await shown(seen, "resent")

        await page.go_back()  # not from the browser's memory: it says what holds now
        await page.get_by_text("Only mail that was sent, failed, expired").wait_for()
        assert await page.get_by_role("button", name="Send again").count() == 0

    assert seen.complaints == []
    assert all(url.startswith((seen.url, "data:")) for url in seen.requests)


async def test_hostile_names_are_shown_as_text_and_hostile_mail_runs_nothing(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with tracking() as tracker, looking_at(database, browser) as seen:
        mail = MAIL.replace("{tracker}", tracker.url)
        async with seen.console.connection() as conn:
            for text in HOSTILE:
                await make.queued_email(
                    conn,
                    subject=text,
                    html_body=mail,
                    campaign_id=text[:100],
                    tags=[text[:50]],
                )
        await seen.log_in()
        page = seen.page
        await page.goto(f"{seen.url}/console/projects/default/emails")
        await shown(seen, "hostile")
        paths = await page.locator(".row .cover").evaluate_all("all => all.map(one => one.href)")
        assert len(paths) == len(HOSTILE)
        for number, path in enumerate(paths):
            await page.goto(path)
            assert "pwned" not in (await page.title()).partition(" – ")[2]
            assert (
                await page.evaluate("document.querySelectorAll('main script, main svg').length")
                == 0
            )
            await page.goto(f"{path}/message")
            frame = page.frame_locator("iframe.paper")
            await frame.locator("h1").wait_for()
            assert await page.title() == "Message – mailqueue"
            if number == 0:
                await shown(seen, "message")
                for view in ("text", "headers", "files", "source"):
                    await page.goto(f"{path}/message?view={view}")
                    await shown(seen, f"message-{view}")

        assert tracker.asked == []
        await page.goto(f"{tracker.url}/seen")
        assert tracker.asked[0] == "GET /seen HTTP/1.1"

    ours = [each for each in seen.complaints if "/message/html" not in each]
    assert [each for each in ours if tracker.url not in each] == []


async def test_an_open_page_shows_that_an_email_was_cancelled(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        async with seen.console.connection() as conn:
            email = await make.queued_email(conn, subject="Your order")
        await seen.log_in()
        page = seen.page
        await page.goto(f"{seen.url}/console/projects/default/emails/{email}")
        assert await page.locator(".why .pill").inner_text() == "queued"
        async with seen.console.connection() as conn:
            await conn.execute(
                "SELECT mailqueue.cancel_emails(project_id, ARRAY[id], 'test')"
                " FROM mailqueue.email_queue"
            )
        await page.locator(".why .pill", has_text="cancelled").wait_for()
        assert await page.locator("[data-live-says]").inner_text() == "Updated as it changes."

    assert seen.complaints == []


async def test_the_pages_can_be_read_and_used_without_script(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        async with seen.console.connection() as conn:
            await make.queued_email(conn, subject="Your order")
        context = await browser.new_context(java_script_enabled=False)
        page = await context.new_page()
        await page.goto(f"{seen.url}/console/projects/default/emails")
        await page.get_by_label("Name").fill("ann")
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Log in").click()
        await page.get_by_role("link", name="Your order").click()
        assert "UTC" in await page.locator("time").first.inner_text()
        await page.get_by_role("link", name="Hold").click()
        await page.get_by_role("button", name="Hold").click()
        assert await page.get_by_role("status").inner_text() == "The email is held."
        assert await page.locator(".why .pill").inner_text() == "held"
        await context.close()
