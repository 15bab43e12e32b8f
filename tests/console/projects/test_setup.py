"""First steps: from an empty project to an email that arrives, with errors kept and shown."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Browser

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings, load_settings
from tests import make
from tests.adapters.sending.test_worker import worker
from tests.api.support.wired import MASTER
from tests.concurrency.running import until_nothing_is_queued
from tests.console.looking import Seen, looking_at
from tests.console.test_pages import logged_in
from tests.console.visiting import Visiting, Visitor, visiting
from tests.smtp.reference_server import PASSWORD, ReceivedMail, judge

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS"),
]

SETUP = "/console/projects/default/setup"
_MARKS = re.compile(r"<h2>(\d)\. [\w ]+ <span class=\"pill \w*\">(done|to do)")


def account(at: int, **change: str) -> dict[str, str]:
    return {
        "name": "relay",
        "provider": "",
        "host": "127.0.0.1",
        "port": str(at),
        "tls": "none",
        "username": "ann",
        "password": PASSWORD,
        "email": "shop@example.com",
    } | change


async def marks(visitor: Visitor) -> list[str]:
    return [state for _, state in _MARKS.findall((await visitor.get(SETUP)).text)]


async def test_each_step_says_whether_it_is_done_and_the_email_arrives(
    database: DatabaseSettings, tmp_path: Path
) -> None:
    received = ReceivedMail()
    async with (
        judge(received, auth=True) as port,
        visiting(database, master_key=Secret(MASTER)) as console,
        console.visitor() as visitor,
    ):
        await logged_in(console, visitor)
        assert await marks(visitor) == ["done", "to do", "to do", "to do", "to do"]
        added = await visitor.submit(SETUP, f"{SETUP}/sender", **account(port))
        assert added.headers["location"] == f"{SETUP}?done=sender", added.text
        tried = await visitor.submit(SETUP, f"{SETUP}/try", sender="relay")
        assert "its server answered and accepted the login" in tried.text
        assert PASSWORD not in tried.text
        assert await marks(visitor) == ["done", "done", "to do", "to do", "to do"]
        assert "/domains/new?domain=example.com" in (await visitor.get(SETUP)).text
        sent = await visitor.submit(SETUP, f"{SETUP}/send", to="ann@example.com")
        waiting = (await visitor.get(sent.headers["location"])).text
        settings = load_settings(
            database_url=database.url, data=tmp_path, master_key=Secret(MASTER)
        )
        async with worker(settings), console.connection() as conn:
            assert await until_nothing_is_queued(conn) == {"sent": 1}
        page = (await visitor.get(SETUP)).text

    assert 'hx-select="#watch"' in waiting
    assert 'hx-select="#watch"' not in page
    assert "Delivered to the server of relay, for ann@example.com" in page
    assert recipients(received) == ["ann@example.com"]


def recipients(received: ReceivedMail) -> list[str]:
    return [address for _, to, _ in received.messages for address in to]


async def test_an_account_that_does_not_work_says_why(database: DatabaseSettings) -> None:
    async with (
        judge(ReceivedMail(), auth=True) as port,
        visiting(database, master_key=Secret(MASTER)) as console,
        console.visitor() as visitor,
    ):
        await logged_in(console, visitor)
        await visitor.submit(SETUP, f"{SETUP}/sender", **account(port, password="wrong one"))
        tried = await visitor.submit(SETUP, f"{SETUP}/try", sender="relay")
        unknown = await visitor.submit(SETUP, f"{SETUP}/try", sender="no such")

    assert tried.status_code == 200
    assert 'role="alert"' in tried.text
    assert "535" in tried.text
    assert "wrong one" not in tried.text
    assert unknown.status_code == 404


async def test_errors_stand_at_their_field_and_keep_all_but_the_password(
    database: DatabaseSettings,
) -> None:
    async with (
        visiting(database, master_key=Secret(MASTER)) as console,
        console.visitor() as visitor,
    ):
        await logged_in(console, visitor)
        for change, field in (
            ({"name": ""}, "name"),
            ({"host": ""}, "host"),
            ({"port": "x"}, "port"),
            ({"port": "99999"}, "port"),
            ({"tls": "ssl3"}, "tls"),
            ({"provider": "mine"}, "provider"),
            ({"email": "<b>"}, "email"),
        ):
            typed = account(25, username="kept <i>") | change
            response = await visitor.submit(SETUP, f"{SETUP}/sender", **typed)
            assert response.status_code == 422, (change, response.text)
            assert f'id="fault-{field}"' in response.text, (change, response.text)
            assert 'value="kept &lt;i&gt;"' in response.text, change
            assert PASSWORD not in response.text
        wrong = await visitor.submit(SETUP, f"{SETUP}/send", to="no address")
        preset = account(0, provider="gmail", host="", port="", tls="starttls")
        added = await visitor.submit(SETUP, f"{SETUP}/sender", **preset)
        twice = await visitor.submit(SETUP, f"{SETUP}/sender", **preset)
        async with console.connection() as conn:
            rows = await make.rows(
                conn,
                "SELECT smtp_host, smtp_port, smtp_tls, daily_limit FROM mailqueue.sender_accounts",
            )

    assert wrong.status_code == 422
    assert 'id="fault-to"' in wrong.text
    assert 'value="no address"' in wrong.text
    assert added.status_code == 303, added.text
    assert twice.status_code == 422
    assert 'id="fault-name"' in twice.text
    assert rows == [("smtp.gmail.com", 587, "starttls", 2000)]


async def test_a_project_admin_reaches_no_private_address(database: DatabaseSettings) -> None:
    async with (
        judge(ReceivedMail(), auth=True) as port,
        visiting(database, master_key=Secret(MASTER)) as console,
        console.visitor() as visitor,
    ):
        await logged_in(console, visitor, "project_admin")
        await visitor.submit(SETUP, f"{SETUP}/sender", **account(port))
        tried = await visitor.submit(SETUP, f"{SETUP}/try", sender="relay")

    assert "does not work" in tried.text
    assert "220 " not in tried.text, "it was not connected to"


async def test_a_session_that_ended_leads_back_to_the_form_without_the_password(
    console: Visiting,
) -> None:
    async with console.visitor() as visitor:
        await logged_in(console, visitor)
        fields = await visitor.form(SETUP, f"{SETUP}/sender")
        async with console.connection() as conn:
            await conn.execute("UPDATE mailqueue.console_sessions SET ended_at = now()")
        sent = await visitor.post(f"{SETUP}/sender", fields | account(25))

    (after,) = parse_qs(urlsplit(sent.headers["location"]).query)["next"]
    assert urlsplit(after).path == SETUP
    assert "name=relay" in after
    assert "password" not in after


@pytest.mark.browser
async def test_by_mouse_an_email_is_watched_until_it_has_arrived(
    database: DatabaseSettings, browser: Browser, tmp_path: Path
) -> None:
    received = ReceivedMail()
    async with (
        judge(received, auth=False) as port,
        looking_at(database, browser) as seen,
    ):
        await add_by_mouse(seen, port)
        await seen.page.get_by_label("Your own address").fill("ann@example.com")
        await seen.page.get_by_role("button", name="Send a test email").click()
        await seen.page.get_by_text("Watch below how it is sent").wait_for()
        settings = load_settings(
            database_url=database.url, data=tmp_path, master_key=Secret(MASTER)
        )
        async with worker(settings):
            await seen.page.get_by_text(
                "Delivered to the server of relay, for ann@example.com"
            ).wait_for()

    assert recipients(received) == ["ann@example.com"]
    assert seen.complaints == []


async def add_by_mouse(seen: Seen, port: int) -> None:
    page = seen.page
    await seen.log_in()
    await page.goto(f"{seen.url}{SETUP}")
    await page.get_by_label("Name of the account").fill("relay")
    await page.get_by_label("Server (empty").fill("127.0.0.1")
    await page.get_by_label("Port (empty").fill(str(port))
    await page.get_by_label("Encryption").select_option("none")
    await page.get_by_label("From address").fill("shop@example.com")
    await page.get_by_role("button", name="Add the account").click()
    await page.get_by_role("button", name="Test relay").click()
    await page.get_by_text("its server answered").wait_for()
