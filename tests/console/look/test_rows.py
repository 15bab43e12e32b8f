"""Rows of emails on a wide screen: twenty fit into 800 pixels, however long their texts are."""

import pytest
from playwright.async_api import Browser

from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import looking_at

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

HEIGHTS = "rows => rows.map(row => row.getBoundingClientRect().height)"


async def test_twenty_emails_fit_into_800_pixels_and_each_opens_where_it_is_clicked(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser) as seen:
        async with seen.console.connection() as conn:
            for place in range(20):
                await make.queued_email(
                    conn,
                    subject=f"Your order {place}: " + "a subject without end " * 12,
                    recipient_email=f"{'person' * 9}{place}@{'mail.' * 20}example.com",
                )
        await seen.log_in()
        await seen.page.set_viewport_size({"width": 1280, "height": 800})
        await seen.page.goto(f"{seen.url}/console/projects/default/emails")
        rows = seen.page.get_by_role("table", name="Emails").locator(".row:not(.head)")
        heights = await rows.evaluate_all(HEIGHTS)
        await rows.nth(3).click(position={"x": 900, "y": 10})
        await seen.page.wait_for_url("**/emails/*")

        assert len(heights) == 20
        assert sum(heights) <= 800
        assert seen.complaints == []
