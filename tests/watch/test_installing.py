"""A person installs the Slack app by a link that works once, and is notified by its token."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.oauth import AuthorizeUrlGenerator

from mailqueue.adapters.channels.slack.installing import installation_of
from mailqueue.core.secret import Secret
from mailqueue.db.pool import connect
from mailqueue.ports.webhook import Posted
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.watch import channels
from tests import make
from tests.api.support.calling import Calling, calling
from tests.api.support.wired import MASTER
from tests.watch import watching
from tests.watch.fake_slack import CLIENT_ID, CLIENT_SECRET, FakeSlack, fake_slack
from tests.watch.watching import PUBLIC_URL, TOKEN
from tests.webhooks.delivering import LOOPBACK

pytestmark = pytest.mark.anyio
INSTALL, INSTALLED = "/v1/channels/slack/install", "/channels/slack/installed"


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with fake_slack() as server:
        yield server


@pytest.fixture
async def api(database: DatabaseSettings, slack: FakeSlack) -> AsyncIterator[Calling]:
    options = {
        "slack_url": f"http://127.0.0.1:{slack.port}/api",
        "slack_client_id": CLIENT_ID,
        "slack_client_secret": Secret(CLIENT_SECRET),
        "public_url": PUBLIC_URL,
        "allowed_hosts": LOOPBACK.allowed_networks,
    }
    async with calling(database, master_key=Secret(MASTER), **options) as made:
        yield made


async def user(api: Calling) -> str:
    return str((await api.post("/v1/inbox-users", {"email": "ann@example.com"})).json()["id"])


async def link(api: Calling, owner: str) -> dict[str, str]:
    """Begin an installation; return the values of its link."""
    begun = await api.post(INSTALL, {"user_id": owner})
    assert begun.status_code == 200, begun.text
    return dict(parse_qsl(urlsplit(begun.json()["url"]).query, strict_parsing=True))


async def back(api: Calling, **values: str) -> Any:
    """Return the answer to a person whom Slack sends back, without any key."""
    return await api.http.get(INSTALLED, params=values)


async def connected(api: Calling) -> list[tuple[str, str | None, str | None]]:
    async with connect(api.database) as conn:
        found = await channels.list_page(conn, await make.project_named(conn), limit=5)
    return [(one.status, one.slack_channel_id, one.workspace) for one in found]


async def test_the_official_client_exchanges_a_code_at_the_fake_once(slack: FakeSlack) -> None:
    slack.codes["abc"] = ("T01", "U01")
    exchange = WebClient(base_url=f"http://127.0.0.1:{slack.port}/api/").oauth_v2_access
    values = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "code": "abc"}
    answer = await asyncio.to_thread(exchange, **values)

    assert (answer["access_token"], answer["team"]["id"]) == (TOKEN, "T01")
    with pytest.raises(SlackApiError, match="invalid_code"):
        await asyncio.to_thread(exchange, **values)


async def test_the_link_is_that_of_the_official_library(api: Calling) -> None:
    values = await link(api, await user(api))
    generator = AuthorizeUrlGenerator(
        client_id=CLIENT_ID, scopes=["chat:write"], redirect_uri=PUBLIC_URL + INSTALLED
    )
    theirs = dict(parse_qsl(urlsplit(generator.generate(values["state"])).query))

    assert {name: text for name, text in theirs.items() if text} == values


async def test_an_installation_connects_the_person_and_the_link_works_once(
    api: Calling, slack: FakeSlack
) -> None:
    owner = await user(api)
    slack.codes |= {"one": ("T01", "U01"), "two": ("T01", "U02"), "three": ("T02", "U03")}
    values = await link(api, owner)
    done = await back(api, state=values["state"], code="one")
    assert (done.status_code, done.headers["referrer-policy"]) == (200, "no-referrer")
    assert await connected(api) == [("active", "U01", "T01")]
    assert (await back(api, state=values["state"], code="two")).status_code == 404

    # Another installation replaces the token; another workspace the place, too.
    async with connect(api.database) as conn:
        query = (
            "UPDATE mailqueue.notification_channels SET status = 'error', slack_channel_id = 'C9'"
        )
        await conn.execute(query)
    for code, place in (("two", ("active", "C9", "T01")), ("three", ("active", "U03", "T02"))):
        values = await link(api, owner)
        assert (await back(api, state=values["state"], code=code)).status_code == 200
        assert await connected(api) == [place]
    async with connect(api.database) as conn:
        revision = "SELECT revision FROM mailqueue.notification_channels"
        assert await make.scalar(conn, revision) == 3


async def test_the_token_of_an_installation_posts_notifications(
    api: Calling, slack: FakeSlack, database: DatabaseSettings
) -> None:
    slack.codes["one"] = ("T01", "U01")
    values = await link(api, await user(api))
    await back(api, state=values["state"], code="one")
    async with connect(database) as conn:
        query = "SELECT user_id, id FROM mailqueue.notification_channels"
        ((owner, channel_id),) = await make.rows(conn, query)
        inbox_id = await watching.inbox(conn, owner, 1)
        await watching.queued(conn, owner, inbox_id, channel_id, 1)
        async with watching.delivering(database, slack.port):

            async def is_delivered() -> bool:
                return await watching.log(conn) == [("Mail 1", "delivered")]

            await watching.wait(is_delivered, "the notification")

    assert slack.messages[0]["channel"] == "U01"


async def test_links_that_are_over_unknown_or_cancelled_connect_no_person(
    api: Calling, slack: FakeSlack
) -> None:
    owner = await user(api)
    slack.codes["one"] = ("T01", "U01")
    old, cancelled, wrong = [(await link(api, owner))["state"] for _ in range(3)]
    async with connect(api.database) as conn:
        await conn.execute(
            "UPDATE mailqueue.slack_installations SET expires_at = now() WHERE state_hash = %s",
            (hashlib.sha256(old.encode()).digest(),),
        )
    for state in (old, old + "x", "", "\0", "x" * 5000, "\ud800".encode("utf-8", "replace").hex()):
        assert (await back(api, state=state, code="one")).status_code == 404
    assert (await back(api, state=cancelled, error="access_denied")).status_code == 200
    assert (await back(api, state=cancelled, code="one")).status_code == 404, "it was used"
    assert (await back(api, state=wrong, code="forged")).status_code == 502
    assert (await back(api, state=wrong, code="one")).status_code == 404, "it was used"

    assert await connected(api) == []
    assert list(slack.codes) == ["one"], "a code is asked for with a state of ours alone"


async def test_a_person_of_an_organization_is_connected_by_an_id_of_its_kind(
    api: Calling, slack: FakeSlack
) -> None:
    slack.codes |= {"one": ("T01", "W012A3CDE"), "two": ("T02", "W012A3CDF")}
    owner = await user(api)
    for code, place in (("one", ("W012A3CDE", "T01")), ("two", ("W012A3CDF", "T02"))):
        values = await link(api, owner)
        done = await back(api, state=values["state"], code=code)

        assert done.status_code == 200, done.text
        assert await connected(api) == [("active", *place)]


async def test_a_program_that_looks_where_the_address_leads_uses_no_link(
    api: Calling, slack: FakeSlack
) -> None:
    slack.codes["one"] = ("T01", "U01")
    values = {"state": (await link(api, await user(api)))["state"], "code": "one"}

    assert (await api.http.head(INSTALLED, params=values)).status_code == 405
    assert await connected(api) == []
    assert (await back(api, **values)).status_code == 200


async def test_a_person_who_has_too_many_channels_reads_that_on_the_page(
    api: Calling, slack: FakeSlack
) -> None:
    slack.codes["one"] = ("T01", "U01")
    owner = await user(api)
    state = (await link(api, owner))["state"]
    async with connect(api.database) as conn:
        # As many channels as a person may have, disconnected ones.
        await conn.execute(
            "INSERT INTO mailqueue.notification_channels (id, project_id, user_id, channel_type,"
            " slack_channel_id, status) SELECT mailqueue.uuidv7(), u.project_id, u.id, 'slack',"
            " 'C1', 'disconnected' FROM mailqueue.inbox_users AS u, generate_series(1, 100)"
        )
    refused = await back(api, state=state, code="one")

    assert refused.status_code == 503
    assert refused.headers["referrer-policy"] == "no-referrer"
    assert refused.text.startswith("The channel cannot be connected now")


async def test_states_are_stored_as_hashes_and_ten_of_a_person(api: Calling) -> None:
    owner = await user(api)
    states = [(await link(api, owner))["state"] for _ in range(12)]
    async with connect(api.database) as conn:
        query = "SELECT state_hash FROM mailqueue.slack_installations ORDER BY created_at"
        kept = [row[0] for row in await make.rows(conn, query)]

    assert kept == [hashlib.sha256(state.encode()).digest() for state in states[2:]]


async def test_without_an_app_an_installation_is_refused_with_the_settings(
    database: DatabaseSettings,
) -> None:
    async with calling(database, master_key=Secret(MASTER)) as api:
        refused = await api.post(INSTALL, {"user_id": await user(api)})

        assert refused.status_code == 409
        assert "MAILQUEUE_SLACK_CLIENT_ID" in refused.text
        assert (await back(api, state="x", code="y")).status_code == 404


@pytest.mark.parametrize(
    ("posted", "why"),
    [
        (Posted(None, "cannot connect", was_sent=False), "Slack did not answer"),
        (Posted(500), "Slack answered 500"),
        (Posted(200, body=b"ok"), "Slack answered without a token"),
        (Posted(200, body=b'{"ok":false,"error":"invalid_code"}'), "Slack: invalid_code"),
        (
            Posted(200, body=b'{"ok":true,"access_token":"xoxp-0000000000-user"}'),
            "Slack answered without a bot's token, a workspace or a person",
        ),
        (
            Posted(200, retry_after=timedelta(1), body=b'{"ok":true,"team":[],"access_token":7}'),
            "Slack answered without a bot's token, a workspace or a person",
        ),
    ],
)
def test_why_an_answer_is_no_installation(posted: Posted, why: str) -> None:
    assert installation_of(posted) == why
