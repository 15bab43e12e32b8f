"""A live page in a real browser."""

import asyncio
import json

import pytest
from playwright.async_api import Browser, Route, expect

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import looking_at

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

PARTS = {"state": '<p><a href="#old">Send again</a></p>', "facts": "<p>Changed.</p>"}
EVENTS = f"event: ready\ndata: {{}}\n\nevent: parts\ndata: {json.dumps(PARTS)}\n\n"


async def test_parts_that_arrive_while_the_mouse_is_pressed_leave_the_click_its_link(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        page, pressed, is_sent = seen.page, asyncio.Event(), False

        async def answer(route: Route) -> None:
            nonlocal is_sent
            await pressed.wait()
            await route.fulfill(content_type="text/event-stream", body="" if is_sent else EVENTS)
            is_sent = True

        await page.route("**/emails/*/live", answer)
        async with seen.console.connection() as conn:
            email = await make.queued_email(conn)
        await seen.log_in()
        path = f"{seen.url}/console/projects/default/emails/{email}"
        await page.goto(path)
        link = page.get_by_role("link", name="Cancel")
        await link.hover()

        await page.mouse.down()
        pressed.set()
        await page.get_by_text("The server does not answer").wait_for()  # the events are over
        await expect(link).to_be_visible()
        await page.mouse.up()
        await page.wait_for_url(f"{path}/cancel")
        assert seen.complaints == []
