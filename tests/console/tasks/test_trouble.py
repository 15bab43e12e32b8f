"""Two tabs, a session that ended, a slow network and an error of ours, in a real browser."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from playwright.async_api import Browser, Route, expect

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import Seen, faults_of, looking_at
from tests.console.tasks.shops import HOSTILE
from tests.console.visiting import PASSWORD

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

EMAILS = "/console/projects/default/emails"


@pytest.fixture(scope="module")
async def shared(module_db: str, browser: Browser) -> AsyncIterator[Seen]:
    async with looking_at(DatabaseSettings(Secret(module_db)), browser) as seen:
        yield seen


@pytest.fixture
async def seen(shared: Seen) -> Seen:
    """A browser in which a superadmin is logged in."""
    shared.complaints.clear()
    await shared.page.goto(f"{shared.url}{EMAILS}")
    if await shared.page.get_by_role("button", name="Log out").count() == 0:
        await shared.log_in()
    return shared


async def queued(seen: Seen) -> tuple[UUID, str]:
    """Return an email with a hostile subject, and the path of its page."""
    async with seen.console.connection() as conn:
        email = await make.queued_email(conn, subject=HOSTILE)
    return email, f"{seen.url}{EMAILS}/{email}"


async def held_times(seen: Seen) -> int:
    """Return how often emails were held."""
    async with seen.console.connection() as conn:
        query = "SELECT count(*) FROM mailqueue.audit_events WHERE action = 'emails.held'"
        found: int = await make.scalar(conn, query)
    return found


async def test_what_one_tab_did_is_said_in_the_other_and_not_done_again(seen: Seen) -> None:
    email, path = await queued(seen)
    first, second = seen.page, await seen.page.context.new_page()
    for tab in (first, second):
        await tab.goto(f"{path}/hold")
    await first.get_by_role("button", name="Hold").click()
    await first.get_by_text("The email is held.").wait_for()
    await second.get_by_label("Reason").fill("too late")
    await second.get_by_role("button", name="Hold").click()
    said = second.locator("main")
    await expect(said).to_contain_text("Only mail that is pending can be held")
    await second.close()

    async with seen.console.connection() as conn:
        assert await make.status_of(conn, email) == "held"


async def test_a_session_that_ended_leads_through_the_login_back_to_what_was_typed(
    seen: Seen,
) -> None:
    email, path = await queued(seen)
    page = seen.page
    await page.goto(f"{path}/hold")
    await page.get_by_label("Reason").fill("the price is wrong")
    async with seen.console.connection() as conn:
        await conn.execute("UPDATE mailqueue.console_sessions SET ended_at = clock_timestamp()")
    await page.keyboard.press("Enter")
    await page.get_by_label("Name").fill("ann")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Reason")).to_have_value("the price is wrong")
    async with seen.console.connection() as conn:
        assert await make.status_of(conn, email) == "pending"
    await page.get_by_role("button", name="Hold").click()
    await page.get_by_text("The email is held.").wait_for()

    assert seen.complaints == []


async def test_a_button_that_is_pressed_again_on_a_slow_network_acts_once(seen: Seen) -> None:
    email, path = await queued(seen)
    page, posts, is_sent, may_go = seen.page, 0, asyncio.Event(), asyncio.Event()

    async def slow(route: Route) -> None:
        nonlocal posts
        if route.request.method == "POST":
            posts += 1
            is_sent.set()
            await may_go.wait()
        await route.continue_()

    before = await held_times(seen)
    await page.goto(f"{path}/hold")
    await page.route("**/hold", slow)
    box = await page.get_by_role("button", name="Hold").bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    await page.mouse.click(*middle)
    await is_sent.wait()
    await page.mouse.click(*middle)
    await page.keyboard.press("Enter")
    may_go.set()
    await page.wait_for_url(f"{path}?done=hold")
    await page.unroute("**/hold")

    async with seen.console.connection() as conn:
        assert await make.status_of(conn, email) == "held"
    assert posts == 1
    assert await held_times(seen) == before + 1


async def test_an_error_of_ours_is_a_page_with_an_id_and_a_way_on(seen: Seen) -> None:
    _, path = await queued(seen)
    async with seen.console.connection() as conn:
        await conn.execute("ALTER FUNCTION mailqueue.why(uuid) RENAME TO why_not")
    try:
        answer = await seen.page.goto(path)
        assert answer is not None
        assert answer.status == 500
        faults = await faults_of(seen, "an error")
        await expect(seen.page.locator("main")).to_contain_text(answer.headers["x-request-id"])
        assert "why" not in await seen.page.locator("main").inner_text()
    finally:
        async with seen.console.connection() as conn:
            await conn.execute("ALTER FUNCTION mailqueue.why_not(uuid) RENAME TO why")
    await seen.page.reload()
    await expect(seen.page.locator("h1")).to_contain_text("<img src=x")

    assert faults == []
    assert [each for each in seen.complaints if "500" not in each] == []
