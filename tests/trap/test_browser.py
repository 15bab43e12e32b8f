"""The trap's pages in a real browser: hostile mail runs nothing and fetches nothing."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser, Page, async_playwright

from mailqueue.api.app import create_app
from mailqueue.api.http.server import bind, listening
from mailqueue.db.pool import open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.trap.server import TrapServer, trap_server
from tests.api.support.calling import settings_for
from tests.trap.trapping import HTML, mail_to

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PAYLOADS = (
    "<script>document.title='pwned'</script>"
    "<img src=x onerror=\"document.title='pwned'\">"
    "<svg onload=\"parent.document.title='pwned'\"></svg>"
    "<iframe srcdoc=\"<script>top.document.title='pwned'</script>\"></iframe>",
    "<img src='{tracker}/pixel.gif'>"
    "<link rel=stylesheet href='{tracker}/x.css'>"
    "<link rel=dns-prefetch href='{tracker}/'>"
    "<style>@import '{tracker}/y.css';</style><p style='background:url({tracker}/z)'>x</p>",
    "<meta http-equiv=refresh content='0;url={tracker}/'>",
    "<base href='{tracker}/'>"
    "<form action='/trap/clear' method=post id=f><button>x</button></form>"
    "<video autoplay src='{tracker}/v.mp4'></video>"
    "<object data='{tracker}/o'></object>",
)
"""Each is a mail; what is in one does nothing to the rest of it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A trap, a browser's page of it, and what the browser did."""

    trap: TrapServer
    page: Page
    url: str
    complaints: list[str]


@dataclass(frozen=True, slots=True)
class Tracker:
    """A web server of another host that records its requests."""

    url: str
    asked: list[str]


@asynccontextmanager
async def tracking() -> AsyncIterator[Tracker]:
    asked: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readline()).decode().strip())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield Tracker(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked)


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield launched
        await launched.close()


@asynccontextmanager
async def looking_at(database: DatabaseSettings, browser: Browser) -> AsyncIterator[Seen]:
    async with (
        open_pool(database) as pool,
        trap_server(pool, database, host="127.0.0.1", port=0) as trap,
    ):
        app = create_app(settings_for(database), pool)
        with bind("127.0.0.1", 0, option="--port") as sock:
            async with listening(app, sock) as url:
                page = await browser.new_page()  # without cookies of other pages
                seen = Seen(trap, page, url, [])

                page.on("pageerror", lambda error: seen.complaints.append(str(error)))
                page.on("dialog", lambda dialog: seen.complaints.append(dialog.message))
                await page.goto(f"{url}/trap")
                yield seen
                await page.close()


async def test_no_page_is_wider_than_the_screen_of_a_phone(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        page, wider = seen.page, "document.documentElement.scrollWidth - innerWidth"
        await page.set_viewport_size({"width": 360, "height": 740})
        clipped = await page.evaluate(
            "[...document.querySelectorAll('.empty > *')]"
            ".filter((each) => each.getBoundingClientRect().right > innerWidth).length"
        )
        excess = {"empty": await page.evaluate(wider)}
        await mail_to(seen.trap)
        row = page.locator("[data-messages] li a")
        await row.wait_for()
        excess["list"] = await page.evaluate(wider)
        await row.click()
        await page.wait_for_url("**/trap/messages/*")
        excess["message"] = await page.evaluate(wider)
        linked = await page.get_by_role("navigation", name="Elsewhere").inner_text()

    assert clipped == 0, "texts end at the edge, and code scrolls"
    assert {name: more for name, more in excess.items() if more > 0} == {}
    assert "API reference" in linked


async def test_new_mail_appears_by_itself_and_is_opened_by_the_keyboard(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        page = seen.page
        assert await page.get_by_text("No mail yet").is_visible()
        await mail_to(seen.trap)
        row = page.locator("[data-messages] li a")
        await row.wait_for()
        assert await page.locator("[data-total]").inner_text() == "1"
        assert not await page.get_by_text("No mail yet").is_visible()

        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/trap/messages/*")
        assert await page.locator("h1").inner_text() == "Receipt 😊 for you"
        mail = page.frame_locator("iframe.paper")
        assert await mail.locator("p").inner_text() == "Thank you for the order."
        await page.keyboard.press("2")
        await page.wait_for_url("**view=text")
        assert await page.locator("pre.text").inner_text() == "Thank you for the order."
        await page.keyboard.press("u")
        await page.wait_for_url("**/trap")

        await page.keyboard.press("/")
        await page.keyboard.type("no such")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**q=no+such")
        assert await page.get_by_text("Nothing fits").is_visible()

    assert seen.complaints == []


async def test_hostile_mail_runs_nothing_and_fetches_nothing(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with tracking() as tracker, looking_at(database, browser) as seen:
        payloads = [payload.replace("{tracker}", tracker.url) for payload in PAYLOADS]
        page = seen.page
        for payload in payloads:
            head = f"Subject: {payload}\r\nFrom: {payload}\r\nContent-Type: text/html\r\n\r\n"
            await mail_to(seen.trap, raw=(head + payload).encode())
        await page.locator(f"[data-messages] li:nth-child({len(payloads)})").wait_for()
        assert await page.title() == "Mail trap"
        for number, payload in enumerate(payloads, start=1):
            for view in ("text", "source", "headers", "html"):
                await page.goto(f"{seen.url}/trap/messages/{number}?view={view}")
                assert await page.title() == f"{payload} – Mail trap"
            if "refresh" not in payload:  # alone in a tab it may lead elsewhere, as a link may
                await page.goto(f"{seen.url}/trap/messages/{number}/html")
                assert await page.title() != "pwned"

        assert tracker.asked == []
        await page.goto(f"{tracker.url}/seen")
        assert tracker.asked[0] == "GET /seen HTTP/1.1"

    assert seen.complaints == []


async def test_clearing_asks_first_and_empties_the_list(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        page = seen.page
        await mail_to(seen.trap, raw=HTML)
        await page.locator("[data-messages] li a").wait_for()
        page.on("dialog", lambda dialog: dialog.accept())
        await page.get_by_role("button", name="Delete all").click()
        await page.get_by_text("No mail yet").wait_for()

    assert seen.complaints == ["Delete every caught message?"]
