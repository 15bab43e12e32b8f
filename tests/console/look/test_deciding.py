"""In Chromium: pages that depend on a state. axe-core has no fault, and none is too wide."""

from typing import Literal

import pytest
from playwright.async_api import Browser, expect

from mailqueue.console.emails import pages
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import faults_of, looking_at, shown
from tests.console.test_accessible import SUBJECT
from tests.console.test_pages import EMAILS

pytestmark = [pytest.mark.anyio, pytest.mark.browser]
ALL_SCREENS: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (360, "light"),
    (360, "dark"),
    (1280, "light"),
    (1280, "dark"),
)


async def test_search_results_a_wrong_filter_and_a_suppressed_recipient_look_right(
    database: DatabaseSettings, browser: Browser
) -> None:
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
            faults += await faults_of(seen, name, path=path, text=text, screens=ALL_SCREENS)
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
