"""The dashboard in a real browser: charts, changes without a reload, and events kept back."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Route, expect

from mailqueue.console.live import reader
from mailqueue.db.fetch import Conn
from mailqueue.operations import activity
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.console.looking import Seen, looking_at, shown

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

_LOG = """
INSERT INTO mailqueue.send_logs (sent_at, email_id, project_id, sender_account_id, attempt, status,
    recipient_email, response_ms)
SELECT clock_timestamp() - m * interval '1 min', gen_random_uuid(), a.project_id, a.id, 1,
       CASE WHEN n % 17 = 0 THEN 'deferred' WHEN n % 23 = 0 THEN 'bounced' WHEN n % 41 = 0
            THEN 'failed' ELSE 'sent' END,
       'ann@example.com', CASE a.name WHEN 'slow' THEN 2500 ELSE 80 END + n
  FROM mailqueue.sender_accounts AS a, generate_series(0, 1500, 7) AS m,
       generate_series(1, 20 + m * 7 % 13) AS n
"""


@pytest.fixture
async def seen(
    database: DatabaseSettings, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Seen]:
    monkeypatch.setattr(reader, "INTERVAL_SECONDS", 0.2)
    monkeypatch.setattr(activity, "PACE", 0)
    async with looking_at(database, browser) as made:
        yield made


async def busy(conn: Conn) -> None:
    """Make two sender accounts with attempts over a day, and waiting mail."""
    for name in ("quick", "slow"):
        await make.sender_account(conn, name=name)
    await conn.execute(_LOG.encode())
    for priority in (0, 1, 1, 2):
        await make.queued_email(conn, priority=priority)


async def test_the_dashboard_shows_what_changes_and_which_account_is_slow(seen: Seen) -> None:
    async with seen.console.connection() as conn:
        await busy(conn)
    page = seen.page
    await seen.log_in()
    await page.wait_for_url("**/console/dashboard")
    await expect(page.locator("[data-live-says]")).to_have_text("Updated as it changes.")
    await expect(page.locator(".chart svg")).to_have_count(2)
    await shown(seen, "dashboard")
    assert await page.locator("#accounts tbody th a").first.inner_text() == "slow"

    due = page.locator("#figures .figures dd").nth(2)
    await expect(due).to_have_text("4")
    async with seen.console.connection() as conn:
        await make.queued_email(conn)
    await expect(due).to_have_text("5", timeout=20_000)

    await page.get_by_role("button", name="Pause updates").click()
    await expect(page.locator("[data-live-says]")).to_have_text("Not updated.")
    await page.locator("#accounts").get_by_role("link", name="slow").click()
    await page.wait_for_url("**/emails?sender=slow")
    assert seen.complaints == []


async def test_a_page_asks_where_a_proxy_keeps_events_back(seen: Seen) -> None:
    async def keep_back(route: Route) -> None:
        if route.request.headers.get("accept") != "text/event-stream":
            await route.continue_()  # an event stream is not answered

    await seen.page.route("**/live", keep_back)
    await seen.log_in()
    await expect(seen.page.locator("[data-live-says]")).to_have_text(
        "Updated every 5 seconds.", timeout=30_000
    )
    async with seen.console.connection() as conn:
        await make.queued_email(conn)
    due = seen.page.locator("#figures .figures dd").nth(2)
    await expect(due).to_have_text("1", timeout=30_000)


async def test_a_page_asks_where_a_stream_broke_and_the_next_is_kept_back(seen: Seen) -> None:
    streams = []

    async def keep_back(route: Route) -> None:
        if route.request.headers.get("accept") != "text/event-stream":
            await route.continue_()
            return
        streams.append(route)
        if len(streams) == 1:
            await route.abort("connectionreset")

    await seen.page.route("**/live", keep_back)
    await seen.log_in()
    says = seen.page.locator("[data-live-says]")
    await expect(says).to_have_text("Updated every 5 seconds.", timeout=60_000)
    assert len(streams) == 2


async def test_the_focus_stays_where_it_is_when_a_part_changes(
    seen: Seen,
) -> None:
    async with seen.console.connection() as conn:
        await busy(conn)
    await seen.log_in()
    page = seen.page
    await page.locator("#traffic summary").first.focus()
    await page.keyboard.press("Enter")
    link = page.locator("#accounts a").first
    await link.focus()
    first = page.locator("#accounts tbody tr").first.locator("td")
    attempts = int(await first.nth(3).inner_text())
    async with seen.console.connection() as conn:
        await conn.execute(
            "INSERT INTO mailqueue.send_logs (email_id, project_id, sender_account_id, attempt,"
            " status, recipient_email, response_ms) SELECT gen_random_uuid(), a.project_id, a.id,"
            " 1, 'sent', 'ann@example.com', 90000 FROM mailqueue.sender_accounts AS a"
            " WHERE a.name = 'slow'"
        )
    await expect(first.nth(3)).to_have_text(str(attempts + 1), timeout=20_000)
    await expect(link).to_be_focused()
    assert await page.locator("#traffic details").first.get_attribute("open") is not None


async def test_a_user_whose_session_ends_is_led_to_the_login(
    seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "RECHECK_SECONDS", 0.2)
    await seen.log_in()
    await expect(seen.page.locator("[data-live-says]")).to_have_text("Updated as it changes.")
    async with seen.console.connection() as conn:
        await conn.execute("UPDATE mailqueue.console_sessions SET ended_at = clock_timestamp()")
    await seen.page.wait_for_url("**/console/login?next=%2Fconsole%2Fdashboard", timeout=30_000)
