"""A colleague is invited by mail, and forgets the password, in a real browser, by a real server."""

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.policy import default

import pytest
from playwright.async_api import Browser

from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.console import link_mailer
from tests.api.support.calling import settings_for
from tests.console.looking import Seen, faults_of, looking_at, shown
from tests.console.visiting import PASSWORD
from tests.webhooks.delivering import until
from tests.whole.sink import Sink, sink

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

ANN = "zoe@example.com"
PUBLIC = "https://mail.example.com"


@pytest.fixture
def taken() -> Iterator[Sink]:
    """The server of the operator."""
    with sink() as server:
        yield server


async def _path(taken: Sink, count: int) -> str:
    """Return the path of the link in the mail with a number, once the server has it."""

    async def has_come() -> bool:
        return len(taken) >= count

    await until(has_come, what="mail with a link")
    text = message_from_bytes(taken.messages[count - 1], policy=default).get_content()
    found = re.search(re.escape(PUBLIC) + r"(/console/welcome\?link=\S+)", text)
    assert found is not None, text
    return found[1]


async def _set_password(seen: Seen, path: str, password: str) -> None:
    await seen.page.goto(seen.url + path)
    await seen.page.get_by_label("Password").fill(password)
    await seen.page.get_by_label("Once more").fill(password)
    await seen.page.keyboard.press("Enter")
    await seen.page.get_by_text("Your password is set.").wait_for()


async def test_a_colleague_is_invited_by_mail_and_gets_a_new_password_by_mail(
    database: DatabaseSettings, browser: Browser, taken: Sink
) -> None:
    settings = settings_for(
        database,
        console_mail_url=f"smtp://127.0.0.1:{taken.port}",
        console_mail_from="console@example.com",
        console_url=PUBLIC,
    )
    async with looking_at(database, browser, link_mailer=link_mailer(settings)) as seen:
        page = seen.page
        await seen.log_in()
        await page.goto(f"{seen.url}/console/projects/default/members/invite")
        await page.get_by_label("Name, to log in with").fill(ANN)
        await page.keyboard.press("Enter")
        await page.get_by_text(f"The link was mailed to {ANN}").wait_for()
        faults = await faults_of(seen, "mailed")
        await shown(seen, "mailed")
        await page.get_by_role("button", name="Log out").click()
        await _set_password(seen, await _path(taken, 1), PASSWORD)

        await page.goto(f"{seen.url}/console/login")
        await page.get_by_role("link", name="Email me a link").click()
        faults += await faults_of(seen, "forgotten")
        await shown(seen, "forgotten")
        await page.get_by_label("Email address").fill(ANN)
        await page.keyboard.press("Enter")
        await page.get_by_text("a link is on its way to it").wait_for()
        faults += await faults_of(seen, "on its way")
        await _set_password(seen, await _path(taken, 2), f"{PASSWORD} anew")
        await page.get_by_label("Password").fill(f"{PASSWORD} anew")
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Log out").wait_for()

    assert faults == []
    assert seen.complaints == []
    assert taken.addresses() == [ANN, ANN]
