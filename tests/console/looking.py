"""The console in a real browser: a page, what it reported and requested, and pictures of it."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, Request, async_playwright, expect

from mailqueue.api.http.server import bind, listening
from mailqueue.settings.environment import DatabaseSettings
from tests.console.visiting import PASSWORD, Visiting, visiting
from tests.trap.test_browser import CHROMIUM, FLAGS

WIDTHS = (360, 768, 1280, 1920)
"""Widths of pictures in CSS pixels, from a phone to a wide screen."""
SCREENS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1280, "light"), (360, "dark"))
RULES = {
    "resultTypes": ["violations"],  # of rules that are kept, one element instead of all
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    },
}
"""The rules of axe-core that every page keeps."""
_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_FAULTS = "(rules) => axe.run(rules)"
TRANSITIONS_OVER = "Promise.allSettled(document.getAnimations().map((each) => each.finished))"


class Looked(Protocol):
    """A browser's page, and the address of what it shows."""

    @property
    def page(self) -> Page: ...
    @property
    def url(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Seen:
    """A console, a browser's page of it, and what the browser reported and requested."""

    console: Visiting
    page: Page
    url: str
    complaints: list[str]
    requests: list[str]

    async def log_in(self, name: str = "ann") -> None:
        await self.page.goto(f"{self.url}/")
        await self.page.get_by_label("Name").fill(name)
        await self.page.get_by_label("Password").fill(PASSWORD)
        await self.page.keyboard.press("Enter")
        await self.page.get_by_role("button", name="Log out").wait_for()
        await self.page.wait_for_load_state()  # until then, no script listens for keys


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield launched
        await launched.close()


@asynccontextmanager
async def looking_at(
    database: DatabaseSettings, browser: Browser, **options: Any
) -> AsyncIterator[Seen]:
    async with visiting(database, **options) as console:
        await console.add_user("ann")
        with bind("127.0.0.1", 0, option="--port") as sock:
            async with listening(console.app, sock) as url:
                context = await browser.new_context()
                page = await context.new_page()
                seen = Seen(console, page, url, [], [])

                def note(request: Request) -> None:
                    seen.requests.append(request.url)

                page.on("pageerror", lambda error: seen.complaints.append(str(error)))
                page.on(
                    "console",
                    lambda said: (
                        seen.complaints.append(said.text) if said.type == "error" else None
                    ),
                )
                page.on("request", note)
                yield seen
                await context.close()


async def shown(seen: Looked, name: str) -> None:
    """Keep pictures at each width and in both themes, if CONSOLE_PICTURES names a folder."""
    folder = os.environ.get("CONSOLE_PICTURES")
    if folder is None:
        return
    for theme in ("light", "dark"):
        await seen.page.emulate_media(color_scheme=theme)
        for width in WIDTHS:
            await seen.page.set_viewport_size({"width": width, "height": 800})
            place = Path(folder) / f"{name}-{width}-{theme}.png"
            await seen.page.screenshot(path=place, full_page=True)


async def faults_of(
    seen: Looked,
    name: str,
    *,
    path: str | None = None,
    text: str | None = None,
    screens: Sequence[tuple[int, Literal["light", "dark"]]] = SCREENS,
) -> list[str]:
    """Return what is wrong with a page, or the one that is open, on each screen.

    Its width, and what axe-core finds. `text` is on the page once it is loaded. It is loaded on
    the first screen, which then becomes the others: only its style depends on the screen.
    """
    faults: list[str] = []
    for width, theme in screens:
        await seen.page.emulate_media(color_scheme=theme)
        await seen.page.set_viewport_size({"width": width, "height": 800})
        if (width, theme) == screens[0]:
            if path is not None:
                await seen.page.goto(f"{seen.url}{path}")
            if text is not None:
                await expect(seen.page.get_by_text(text).first).to_be_visible()
            await seen.page.evaluate(Axe().axe_script)
        await seen.page.evaluate(TRANSITIONS_OVER)
        where = f"{name} at {width} px, {theme}"
        if (wide := await seen.page.evaluate(_OVERFLOW)) > 0:
            faults.append(f"{where}: {wide} px wider than the screen")
        found = await seen.page.evaluate(_FAULTS, RULES)
        faults += [
            f"{where}: {each['id']}: {node['html'][:200]}"
            for each in found["violations"]
            for node in each["nodes"]
        ]
    return faults
