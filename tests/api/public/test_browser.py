"""The public pages in a real browser: usable without script, by keyboard, on a phone."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Literal

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, async_playwright

from mailqueue.api.app import create_app
from mailqueue.api.http.server import bind, listening
from mailqueue.core.secret import Secret
from mailqueue.db.pool import open_pool
from mailqueue.projects import manage
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.suppression.wording.texts import REPLACEABLE
from tests import make
from tests.api.support.calling import settings_for
from tests.api.support.own_data import sent_link, worked
from tests.api.support.recipient_links import MASTER, Leaving, leaving
from tests.contacts import people
from tests.contacts.confirming import asked_link
from tests.templates.pictures.drawing import drawn, stored

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
RULES = {
    "resultTypes": ["violations"],  # of rules that are kept, one element instead of all
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
}
CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync")


@dataclass(frozen=True, slots=True)
class Site:
    """The application on a port, and a browser."""

    shop: Leaving
    url: str
    browser: Browser

    async def page(self, path: str, *, width: int = 360, dark: bool = False) -> Page:
        context = await self.browser.new_context(
            viewport={"width": width, "height": 760},
            java_script_enabled=False,
            color_scheme="dark" if dark else "light",
            locale="en-GB",
        )
        page = await context.new_page()
        await page.goto(self.url + path)
        return page


@pytest.fixture(scope="module")
async def site(module_db: str) -> AsyncIterator[Site]:
    database = DatabaseSettings(Secret(module_db))
    settings = replace(settings_for(database), master_key=Secret(MASTER))
    async with leaving(database) as shop, open_pool(database) as pool:
        await shop.category("news", description="What is new, about once a month.", place=1)
        await shop.category("tips", place=2)
        await shop.category("receipts", is_required=True)
        app = create_app(settings, pool)
        async with (
            listening(app, bind("127.0.0.1", 0, option="--port")) as url,
            async_playwright() as playwright,
        ):
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            yield Site(shop, url, browser)
            await browser.close()


async def test_choices_are_made_with_the_keyboard_and_kept(site: Site) -> None:
    page = await site.page(await site.shop.preferences_of("key@example.com", "news"))

    await page.get_by_role("group", name="News").get_by_role("radio", name="Yes").focus()
    await page.keyboard.press("ArrowRight")
    assert await page.get_by_label("Pause until").first.is_visible()
    await page.keyboard.press("ArrowRight")
    assert not await page.get_by_label("Pause until").first.is_visible()
    await page.get_by_role("button", name="Save my choices").press("Enter")
    await page.get_by_role("status").wait_for()

    assert await page.get_by_role("group", name="News").get_by_label("No").is_checked()
    assert not await site.shop.gets("key@example.com", "news")
    assert await site.shop.gets("key@example.com", "tips")


async def test_the_page_of_a_link_takes_one_press(site: Site) -> None:
    page = await site.page(await site.shop.link_to("one@example.com", "news"))

    await page.get_by_role("button", name="Unsubscribe").click()
    await page.get_by_role("heading", name="You are unsubscribed").wait_for()
    assert not await site.shop.gets("one@example.com", "news")
    await page.get_by_role("link", name="Choose what you get").click()
    await page.get_by_role("heading", name="Mail preferences").wait_for()
    await page.get_by_role("link", name="Deutsch").click()

    assert await page.locator("html").get_attribute("lang") == "de"


@pytest.mark.parametrize("width", [320, 360, 1280])
async def test_nothing_is_wider_than_the_window(site: Site, width: int) -> None:
    link = await site.shop.preferences_of("wide@example.com", "news")
    context = await site.browser.new_context(viewport={"width": width, "height": 700})
    page = await context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: complaints.append(request.url))
    await page.goto(site.url + link)

    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert await page.evaluate(wide) == 0
    small = """[...document.querySelectorAll('button, .choice label, input[type=date], footer a')]
        .filter(e => e.offsetParent && e.getBoundingClientRect().height < 24).length"""
    assert await page.evaluate(small) == 0
    assert [one for one in complaints if one != site.url + link and "favicon" not in one] == []


async def test_a_contact_confirms_by_one_press_and_nothing_hinders(site: Site) -> None:
    await people.list_of(
        site.shop.conn, site.shop.project_id, "monthly", opt_in="confirmed", description="Monthly"
    )
    link = await asked_link(site.shop, "confirm@example.com", name="monthly")
    context = await site.browser.new_context(viewport={"width": 320, "height": 700})
    page = await context.new_page()
    faults: list[str] = []
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        await page.goto(site.url + link)
        faults += await faults_of(page)
    plain = await site.page(link)
    await plain.get_by_role("button", name="Yes, I want it").press("Enter")
    await plain.get_by_role("heading", name="Thank you").wait_for()
    await page.reload()
    await page.get_by_role("heading", name="Thank you").wait_for()
    faults += await faults_of(page)

    assert faults == []
    query = "SELECT is_pending FROM mailqueue.contact_list_members"
    assert await make.rows(site.shop.conn, query) == [(False,)]


async def test_a_person_gets_their_data_by_two_presses_and_nothing_hinders(site: Site) -> None:
    who = "mine@example.com"
    context = await site.browser.new_context(
        viewport={"width": 320, "height": 700}, java_script_enabled=True, locale="en-GB"
    )
    page = await context.new_page()
    faults: list[str] = []
    await page.goto(site.url + await site.shop.preferences_of(who))
    await page.get_by_role("button", name="Send me my data").click()
    await page.get_by_text("on its way").wait_for()
    link = site.url + await sent_link(site.shop, who)
    for heading in ("being collected", "This file has everything"):
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme)
            await page.goto(link)
            await page.get_by_text(heading).wait_for()
            faults += await faults_of(page)
        await worked(site.shop)
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download").click()
    file = json.loads(await asyncio.to_thread((await (await download.value).path()).read_bytes))

    assert faults == []
    assert {row["table"] for row in file} >= {"mails"}


@pytest.mark.parametrize("lang", ["en", "ar"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", [(8, 8), (8, 2000), (2000, 8), (1, 1)], ids=str)
async def test_a_logo_of_any_shape_is_shown_within_its_bounds(
    site: Site, lang: str, scheme: Literal["light", "dark"], size: tuple[int, int]
) -> None:
    shop = site.shop
    link = await shop.preferences_of("logo@example.com", "news")
    picture = await stored(shop.conn, shop.project_id, drawn(*size))
    await manage.change(shop.conn, "shop", changes={"logo": str(picture)}, by="ann")
    context = await site.browser.new_context(color_scheme=scheme)
    page = await context.new_page()
    faults: list[str] = []
    for width in (320, 360, 1280):
        await page.set_viewport_size({"width": width, "height": 760})
        await page.goto(f"{site.url}{link}?lang={lang}")
        logo = page.get_by_role("img", name="The Shop & Co")
        assert await logo.evaluate("e => e.complete && e.naturalWidth") == size[0]
        box = await logo.bounding_box()
        assert box is not None
        assert (box["height"], box["width"] <= 256) == (56, True)
        assert 0 <= box["x"] <= width - box["width"]
        faults += await faults_of(page)
    await manage.change(shop.conn, "shop", changes={"logo": None}, by="ann")

    assert faults == []


@pytest.mark.parametrize("lang", ["en", "he"])
async def test_own_texts_of_great_length_break_no_page(site: Site, lang: str) -> None:
    shop = site.shop
    own = {name: "ש" * 300 + f" <b>{name}</b> &amp; " + "word " * 100 for name in REPLACEABLE}
    own |= {name: own[name][:500] for name in ("confirm_question", "confirm_yes")}
    await manage.change(shop.conn, "shop", changes={"page_texts": {lang: own}}, by="ann")
    await people.list_of(shop.conn, shop.project_id, f"own-{lang}", opt_in="confirmed")
    paths = [
        await shop.preferences_of("own@example.com", "news"),
        await shop.link_to("own@example.com", "news"),
        await asked_link(shop, f"own-{lang}@example.com", name=f"own-{lang}"),
    ]
    context = await site.browser.new_context()
    page = await context.new_page()
    faults: list[str] = []
    for path in paths:
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme)
            for width in (320, 360, 1280):
                await page.set_viewport_size({"width": width, "height": 760})
                await page.goto(f"{site.url}{path}?lang={lang}")
                assert await page.locator("main b").count() == 1, "the name of the project"
                faults += await faults_of(page)
    await manage.change(shop.conn, "shop", changes={"page_texts": None}, by="ann")

    assert faults == []


@pytest.mark.parametrize("tag", ["ar", "he"])
async def test_pages_in_scripts_from_the_right_begin_at_the_right(site: Site, tag: str) -> None:
    context = await site.browser.new_context(viewport={"width": 360, "height": 700})
    page = await context.new_page()
    faults: list[str] = []
    for path in (await site.shop.preferences_of("right@example.com", "news"), "/t/c/x"):
        for scheme in SCHEMES:
            await page.emulate_media(color_scheme=scheme)
            await page.goto(f"{site.url}{path}?lang={tag}")
            faults += await faults_of(page)
            heading = page.get_by_role("heading").first
            shown = await heading.evaluate("e => getComputedStyle(e).direction")
            assert shown == "rtl", path

    assert faults == []


async def faults_of(page: Page) -> list[str]:
    """Return what axe-core finds, and whether the page is wider than the window."""
    results = await Axe().run(page, options=RULES)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    found = [] if await page.evaluate(wide) == 0 else ["too wide"]
    return found + [str(one["id"]) for one in results.response["violations"]]
