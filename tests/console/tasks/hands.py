"""A hand at the console: a mouse or the keyboard alone, and the clicks that it took."""

from dataclasses import dataclass, field
from typing import Literal

from playwright.async_api import FilePayload, Locator, expect

from tests.console.looking import Seen

Role = Literal["link", "button"]
MAX_TABS = 400
"""Presses of Tab after which what is looked for cannot be reached by keyboard."""
_IS_FOCUSED = "each => each === document.activeElement"


@dataclass(slots=True)
class Hand:
    """A mouse, or Tab and Enter alone.

    `clicks` counts the links and buttons that were pressed, and the fields that the mouse had to
    click before something was typed; `searches` what was looked for in the field on top.
    """

    seen: Seen
    kind: Literal["mouse", "keyboard"]
    clicks: int = field(default=0, init=False)
    searches: int = field(default=0, init=False)

    @property
    def project(self) -> str:
        """Return the name of the project in which this hand acts."""
        return f"shop-{self.kind}"

    async def begin(self) -> None:
        """Open the dashboard; everything is counted from there."""
        await self.seen.page.goto(f"{self.seen.url}/console/dashboard")
        self.clicks = self.searches = 0

    async def press(self, name: str, role: Role = "link") -> None:
        """Press the first link or button whose name has a text, and wait for the next page."""
        found = self.seen.page.get_by_role(role, name=name).first
        self.clicks += 1
        async with self.seen.page.expect_navigation():
            if self.kind == "mouse":
                await found.click()
            else:
                await self._come_to(found)
                await self.seen.page.keyboard.press("Enter")

    async def enter(self, label: str, text: str, *, submit: bool = False) -> None:
        """Type into the field with a label; with `submit` Enter sends the form."""
        found = self.seen.page.get_by_label(label).first
        if self.kind == "keyboard":
            await self._come_to(found)
        elif not await found.evaluate(_IS_FOCUSED):
            self.clicks += 1
            await found.click()
        await self.seen.page.keyboard.type(text)
        if submit:
            async with self.seen.page.expect_navigation():
                await self.seen.page.keyboard.press("Enter")

    async def choose_file(self, label: str, name: str, content: str) -> None:
        """Choose a file in the field with a label; the dialog is the system's, and not counted."""
        found = self.seen.page.get_by_label(label).first
        async with self.seen.page.expect_file_chooser() as chosen:
            if self.kind == "mouse":
                await found.click()
            else:
                await self._come_to(found)
                await self.seen.page.keyboard.press("Enter")
        file = FilePayload(name=name, mimeType="text/csv", buffer=content.encode())
        await (await chosen.value).set_files([file])

    async def search(self, text: str) -> None:
        """Look for a text in the field on top, which `/` leads to."""
        self.searches += 1
        await self.seen.page.keyboard.press("/")
        await self.seen.page.keyboard.type(text)
        async with self.seen.page.expect_navigation():
            await self.seen.page.keyboard.press("Enter")

    async def reads(self, text: str) -> None:
        """Wait until the page says a text."""
        await expect(self.seen.page.locator("main").get_by_text(text).first).to_be_visible()

    async def _come_to(self, found: Locator) -> None:
        for _ in range(MAX_TABS):
            if await found.evaluate(_IS_FOCUSED):
                return
            await self.seen.page.keyboard.press("Tab")
        raise AssertionError(
            f"Tab does not lead to {await found.evaluate('each => each.outerHTML')}"
        )
