"""First steps with providers by their API: fields of each, and what became of the test email."""

import re
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.async_api import Browser

from mailqueue.console.setup.arrival import arrival_of
from mailqueue.contract.emails import Event
from mailqueue.core.secret import Secret
from mailqueue.mail.reads import emails
from mailqueue.settings.environment import DatabaseSettings, load_settings
from tests import make
from tests.adapters.sending.documented import KEY
from tests.adapters.sending.fake import fake
from tests.adapters.sending.providers import SENDGRID
from tests.adapters.sending.test_worker import worker
from tests.api.support.wired import MASTER
from tests.concurrency.running import until_nothing_is_queued
from tests.console.looking import looking_at, shown
from tests.console.projects.test_setup import SETUP, account
from tests.console.test_pages import logged_in
from tests.console.visiting import Visiting, visiting

pytestmark = pytest.mark.anyio


def by_api(via: str, **change: str) -> dict[str, str]:
    return {
        "name": via,
        "provider": f"api:{via}",
        "password": KEY,
        "email": "shop@example.com",
        "api_url": "",
    } | change


async def test_an_account_by_api_is_added_tested_and_delivers(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    async with (
        fake([SENDGRID.accepts]) as server,
        visiting(database, master_key=Secret(MASTER)) as console,
        console.visitor() as visitor,
    ):
        await logged_in(console, visitor)
        at = f"http://127.0.0.1:{server.port}"
        typed = by_api("sendgrid", api_url=at, setting_subuser="news")
        added = await visitor.submit(SETUP, f"{SETUP}/sender", **typed)
        assert added.headers["location"] == f"{SETUP}?done=sender", added.text
        tried = await visitor.submit(SETUP, f"{SETUP}/try", sender="sendgrid")
        assert "can be reached" in tried.text
        assert "accepted the login" not in tried.text  # its key was not used
        await visitor.submit(SETUP, f"{SETUP}/send", to="ann@example.com")
        settings = load_settings(
            database_url=database.url, data=tmp_path, master_key=Secret(MASTER)
        )
        async with worker(settings), console.connection() as conn:
            assert await until_nothing_is_queued(conn) == {"sent": 1}
        page = (await visitor.get(SETUP)).text
        async with console.connection() as conn:
            stored = await make.rows(
                conn, "SELECT provider, provider_settings FROM mailqueue.sender_accounts"
            )

    assert "Delivered to the server of sendgrid, for ann@example.com" in page
    assert stored == [("sendgrid", {"subuser": "news"})]
    [request] = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in page + tried.text + added.text


async def test_every_provider_has_its_fields_and_errors_stand_at_them(
    database: DatabaseSettings,
) -> None:
    gmail = '{"type": "service_account"}'
    async with (
        visiting(database, master_key=Secret(MASTER)) as console,
        console.visitor() as visitor,
    ):
        await logged_in(console, visitor)
        for typed, field in (
            (by_api("mailgun", setting_subuser="kept <i>"), "setting_subuser"),
            (by_api("mailgun", username="kept <i>", setting_domain="d.example"), "username"),
            (by_api("mailgun", setting_domain="kept <i>"), "setting_domain"),
            (by_api("mailgun", setting_region="kept <i>"), "setting_region"),
            (by_api("ses", name="kept <i>", username="AKID"), "name"),
            (by_api("ses", email="kept <i>", username="AKID"), "email"),
            (by_api("ses", setting_region="kept <i>"), "setting_region"),
            (by_api("gmail", username="kept <i>", password=gmail), "password"),
            (by_api("resend", api_url="kept <i>"), "api_url"),
            (by_api("resend", host="kept <i>"), "host"),
            (by_api("smtp2go", password="", api_url="kept <i>"), "password"),
            (account(25, api_url="kept <i>"), "api_url"),
        ):
            response = await visitor.submit(SETUP, f"{SETUP}/sender", **typed)
            assert response.status_code == 422, (typed, response.text)
            assert f'id="fault-{field}"' in response.text, (typed, response.text)
            assert 'value="kept &lt;i&gt;"' in response.text, typed
            chosen = f'value="{typed["provider"]}" data-kind='
            (option,) = re.findall(f"{chosen}[^>]*>", response.text)
            assert "selected" in option, typed
            assert KEY not in response.text
        missing = await visitor.submit(SETUP, f"{SETUP}/sender", **by_api("mailgun"))
        invented = by_api("sendgrid", provider="api:pigeon")
        unknown = await visitor.submit(SETUP, f"{SETUP}/sender", **invented)

    assert 'id="fault-setting_domain"' in missing.text
    assert 'id="fault-provider"' in unknown.text


@pytest.mark.parametrize(
    ("status", "sender", "events", "text", "is_over"),
    [
        ("pending", None, [], "On its way to ann@example.com.", False),
        ("failed", "relay", [], "Not delivered.", True),
        ("sent", "trap", [], "Caught by the mail trap, not delivered", True),
        ("sent", "relay", [], "Delivered to the server of relay, for ann@example.com.", True),
        ("sent", "relay", ["delivered", "opened"], "Delivered to ann@example.com.", True),
        ("sent", "relay", ["delivered", "hard_bounce"], "It came back.", True),
        ("sent", "relay", ["soft_bounce", "delivered"], "Delivered to ann@example.com.", True),
    ],
)
async def test_what_became_of_the_email_is_said(
    console: Visiting,
    status: str,
    sender: str | None,
    events: list[str],
    text: str,
    is_over: bool,
) -> None:
    async with console.connection() as conn:
        queued = await make.queued_email(conn)
        found = await emails.find(conn, queued, project_id=await make.project_named(conn))
    told = [Event(uuid4(), found.created_at, kind, None, None, None, None, None) for kind in events]

    arrival = arrival_of(
        replace(found, status=status, sender=sender, events=told), trapping={"trap"}
    )

    assert arrival.text.startswith(text)
    assert arrival.is_over is is_over


@pytest.mark.browser
async def test_only_the_fields_of_the_chosen_provider_are_shown_and_sent(
    database: DatabaseSettings, browser: Browser
) -> None:
    async with looking_at(database, browser, master_key=Secret(MASTER)) as seen:
        page = seen.page
        await seen.log_in()
        await page.goto(f"{seen.url}{SETUP}")
        host, domain = page.get_by_label("Server (empty"), page.get_by_label("Domain (Mailgun")
        await host.fill("127.0.0.1")
        assert not await domain.is_visible()
        await page.locator("select[name=provider]").select_option("Mailgun by API")
        assert not await host.is_visible()
        assert not await page.get_by_label("User name").is_visible()
        await domain.fill("mg.example.com")
        await page.get_by_label("Name of the account").fill("mailgun")
        await page.get_by_label("API key").fill(KEY)
        await page.get_by_role("button", name="Add the account").click()
        await page.get_by_text("The sender account was added").wait_for()
        await page.get_by_text("Add another account").click()
        await page.locator("select[name=provider]").select_option("Gmail by API")
        assert await page.get_by_text("--api-key-file key.json").is_visible()
        assert await page.get_by_label("User name").is_visible()
        await shown(seen, "setup")

    assert seen.complaints == []
