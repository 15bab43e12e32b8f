"""In Chromium: pages that depend on a state. axe-core has no fault, and none is too wide."""

from typing import Literal

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, expect

from mailqueue.console.emails import pages
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import looking_at, shown
from tests.console.test_accessible import OVERFLOW, RULES, SUBJECT
from tests.console.test_pages import EMAILS

pytestmark = [pytest.mark.anyio, pytest.mark.browser]
SCREENS: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (360, "light"),
    (360, "dark"),
    (1280, "light"),
    (1280, "dark"),
)


async def test_search_results_a_wrong_filter_and_a_suppressed_recipient_look_right(
    database: DatabaseSettings, browser: Browser
) -> None:
    axe = Axe()
    faults: list[str] = []
    async with looking_at(database, browser) as seen:
        async with seen.console.connection() as conn:
            await make.project(conn, "shop")
            await conn.execute(
                "INSERT INTO mailqueue.bounce_list (email, bounce_type, bounce_reason)"
                " VALUES ('ann@example.com', 'hard', %s)",
                ("550 5.1.1 no such user " * 9,),
            )
            email = await make.queued_email(conn, subject=SUBJECT)
        await seen.log_in()
        for name, path, text in (
            ("found-by-part", "/console/find?q=without+end", "Search all emails of this project"),
            ("wrong-filter", f"{EMAILS}?batch=x&status=y", "Nothing is listed"),
            ("resend-suppressed", f"{EMAILS}/{email}/resend", "Lift the suppression and send"),
            ("newest-emails", EMAILS, "Your order"),
        ):
            for width, theme in SCREENS:
                await seen.page.emulate_media(color_scheme=theme)
                await seen.page.set_viewport_size({"width": width, "height": 800})
                await seen.page.goto(f"{seen.url}{path}")
                await expect(seen.page.get_by_text(text).first).to_be_visible()
                where = f"{name} at {width} px, {theme}"
                if (wide := await seen.page.evaluate(OVERFLOW)) > 0:
                    faults.append(f"{where}: {wide} px wider than the screen")
                results = await axe.run(seen.page, options=RULES)
                faults += [
                    f"{where}: {each['id']}: {node['html'][:200]}"
                    for each in results.response["violations"]
                    for node in each["nodes"]
                ]
            await shown(seen, name)

    assert faults == []
    assert seen.complaints == []


async def test_an_open_list_shows_an_email_that_is_accepted_now(
    database: DatabaseSettings, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "READ_SECONDS", 0)
    async with looking_at(database, browser) as seen:
        await seen.log_in()
        await seen.page.goto(f"{seen.url}{EMAILS}")
        await expect(seen.page.get_by_text("No email yet")).to_be_visible()
        async with seen.console.connection() as conn:
            await make.queued_email(conn, subject="Accepted now")
        await expect(seen.page.get_by_role("link", name="Accepted now")).to_be_visible(
            timeout=20_000
        )

    assert seen.complaints == []
