"""A consent that a person begins on her pages ends in her browser, and in no other."""

from collections.abc import AsyncIterator
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from mailqueue.core.secret import Secret
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import states
from tests import make
from tests.portal import visiting
from tests.portal.visiting import Visiting, Visitor
from tests.watch import fake_gmail, fake_slack
from tests.watch.fake_gmail import ADDRESS, FakeGmail
from tests.watch.fake_slack import FakeSlack
from tests.webhooks.delivering import LOOPBACK

pytestmark = pytest.mark.anyio
CHANNELS = "SELECT slack_channel_id FROM mailqueue.notification_channels"
SLACK_BACK, GMAIL_BACK = "/channels/slack/installed", "/oauth/gmail"


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with fake_slack.fake_slack() as server:
        yield server


@pytest.fixture
async def google() -> AsyncIterator[FakeGmail]:
    async with fake_gmail.fake_gmail() as server:
        yield server


@pytest.fixture
async def portal(
    database: DatabaseSettings, slack: FakeSlack, google: FakeGmail
) -> AsyncIterator[Visiting]:
    options = {
        "slack_url": f"http://127.0.0.1:{slack.port}/api",
        "slack_client_id": fake_slack.CLIENT_ID,
        "slack_client_secret": Secret(fake_slack.CLIENT_SECRET),
        "gmail_url": google.url,
        "gmail_client_id": fake_gmail.CLIENT_ID,
        "gmail_client_secret": fake_gmail.CLIENT_SECRET,
        "allowed_hosts": LOOPBACK.allowed_networks,
    }
    async with visiting.visiting(database, **options) as made:
        await made.person()
        yield made


async def link_of(visitor: Visitor, page: str, action: str, **fields: str) -> str:
    """Begin a consent; return the link of the page."""
    text = unescape((await visitor.submit(page, action, **fields)).text)
    return next(part for part in text.split('"') if "state=" in part)


async def test_a_consent_at_google_that_another_person_was_led_into_connects_nothing(
    portal: Visiting, google: FakeGmail
) -> None:
    await portal.person("eve@example.com")
    async with portal.visitor() as ann, portal.visitor() as eve, portal.visitor() as none:
        await ann.log_in()
        await eve.log_in("eve@example.com")
        link = await link_of(eve, "/inboxes/gmail", "/inboxes/gmail", email_address=ADDRESS)
        given = google.consent(link)
        for led in (ann, none):
            assert (await led.http.get(GMAIL_BACK, params=given)).status_code == 404
        assert len(google.codes) == 1, "no code was redeemed"

        link = await link_of(ann, "/inboxes/gmail", "/inboxes/gmail", email_address=ADDRESS)
        answer = await ann.http.get(GMAIL_BACK, params=google.consent(link))
        assert answer.headers["location"] == f"{GMAIL_BACK}/connected"
        assert (await ann.http.get(GMAIL_BACK, params=given)).status_code == 404
    async with portal.connection() as conn:
        owners = "SELECT u.email, m.email_address FROM mailqueue.mailboxes AS m"
        query = f"{owners} JOIN mailqueue.inbox_users AS u ON u.id = m.user_id"
        assert await make.rows(conn, query) == [("ann@example.com", ADDRESS)]


async def test_an_installation_in_slack_ends_in_the_browser_it_was_begun_in(
    portal: Visiting, slack: FakeSlack
) -> None:
    slack.codes |= {"one": ("T01", "U01")}
    async with portal.visitor() as ann, portal.visitor() as other:
        await ann.log_in()
        link = await link_of(ann, "/channels", "/channels/slack")
        given = {"state": dict(parse_qsl(urlsplit(link).query))["state"], "code": "one"}
        assert (await other.http.get(SLACK_BACK, params=given)).status_code == 404
        assert (await ann.http.get(SLACK_BACK, params=given)).status_code == 200
    async with portal.connection() as conn:
        assert await make.rows(conn, CHANNELS) == [("U01",)]


async def test_an_installation_does_not_end_after_the_session_it_was_begun_in(
    portal: Visiting, slack: FakeSlack
) -> None:
    """Who was logged in as her, and is shut out by a new password, does not get what she gets."""
    slack.codes |= {"one": ("T01", "U01")}
    async with portal.visitor() as thief:
        await thief.log_in()
        link = await link_of(thief, "/channels", "/channels/slack")
        async with portal.connection() as conn:
            await conn.execute("UPDATE mailqueue.inbox_sessions SET ended_at = now()")
        given = {"state": dict(parse_qsl(urlsplit(link).query))["state"], "code": "one"}
        assert (await thief.http.get(SLACK_BACK, params=given)).status_code == 404
    async with portal.connection() as conn:
        assert await make.rows(conn, CHANNELS) == []


async def test_states_that_are_none_and_cookies_without_end_are_no_work() -> None:
    cookies = {f"inbox_session_p{number}": "token" for number in range(1000)}
    found = states.hashes_of("state", cookies, is_encrypted=False)
    assert len(found) == 1 + states.MAX_SESSIONS
    others = {"inbox_session_p": "x" * 101, "mailqueue": "y"}
    unbound = [(states.hash_of("state"), None)]
    assert states.hashes_of("state", others, is_encrypted=False) == unbound
    for state in ("", "x" * 201, "state\0token"):
        assert states.hashes_of(state, cookies, is_encrypted=False) == []


async def test_a_cookie_that_another_host_of_the_domain_may_have_set_is_no_session() -> None:
    """Only those with the prefix are of the host alone (RFC 6265bis section 4.1.3.2)."""
    given = {"inbox_session_p": "planted", "__Host-inbox_session_p": "own"}
    own = (states.hash_of("state", Secret("own")), Secret("own"))
    assert states.hashes_of("state", given, is_encrypted=True)[1:] == [own]
