"""The console in a real browser: a page, what it reported and requested, and pictures of it."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, Request, async_playwright

from mailqueue.api.http.server import bind, listening
from mailqueue.settings.environment import DatabaseSettings
from tests.console.visiting import PASSWORD, Visiting, visiting
from tests.trap.test_browser import CHROMIUM, FLAGS

WIDTHS = (360, 768, 1280, 1920)
"""Widths of pictures in CSS pixels, from a phone to a wide screen."""


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


async def shown(seen: Seen, name: str) -> None:
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
