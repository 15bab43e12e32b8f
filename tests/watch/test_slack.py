"""The fake of Slack answers Slack's own client as documented; our messages and answers fit."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.models.blocks import Block

from mailqueue.adapters.channels.slack.posting import CHANNEL_ERRORS, answer_of, content_of
from mailqueue.ports.channel import ChannelMessage, MailLine, PostResult
from mailqueue.ports.webhook import Posted
from tests.watch.fake_slack import fake_slack
from tests.watch.watching import TOKEN

pytestmark = pytest.mark.anyio
AT = datetime(2030, 5, 1, 8, tzinfo=UTC)
MESSAGE = ChannelMessage(
    "Invoice <81> & more",
    "Ann <ann@example.com>",
    "Please <!channel> pay",
    "bob@example.com",
    AT,
    "https://mail.example.com/?id=1",
)


async def test_the_official_client_posts_our_message_to_the_fake() -> None:
    async with fake_slack() as slack:
        client = WebClient(TOKEN, base_url=f"http://127.0.0.1:{slack.port}/api/")
        content = content_of(MESSAGE)
        answer = await asyncio.to_thread(client.chat_postMessage, channel="C01", **content)

        assert answer["ok"]
        assert answer["ts"] == "1767323045.000001"
        assert slack.messages[0]["blocks"] == content["blocks"]


@pytest.mark.parametrize(
    ("token", "channel", "error"),
    [("xoxb-wrong", "C01", "invalid_auth"), (TOKEN, "#general", "channel_not_found")],
)
async def test_the_official_client_reads_the_errors_of_the_fake(
    token: str, channel: str, error: str
) -> None:
    async with fake_slack() as slack:
        client = WebClient(token, base_url=f"http://127.0.0.1:{slack.port}/api/")
        with pytest.raises(SlackApiError) as caught:
            await asyncio.to_thread(client.chat_postMessage, channel=channel, text="Hello")

        assert caught.value.response["error"] == error


def test_our_blocks_are_valid_by_the_models_of_the_official_client() -> None:
    for message in (MESSAGE, summary()):
        for block in Block.parse_all(content_of(message)["blocks"]):
            block.validate_json()


def summary() -> ChannelMessage:
    lines = [MailLine("Ann & Bob <ann@example.com>", "<" * 998)] * 5
    return ChannelMessage("12 new emails", "", "", "bob@example.com", AT, None, lines, 12)


def test_nothing_of_a_mail_is_a_mention_or_a_link_in_slack() -> None:
    text = content_of(MESSAGE)["blocks"][0]["text"]["text"]

    assert "<!channel>" not in text
    assert "&lt;!channel&gt;" in text
    assert "<https://mail.example.com/?id=1|Invoice &lt;81&gt; &amp; more>" in text


@pytest.mark.parametrize(
    "message",
    [
        ChannelMessage("", "", "", "bob@example.com", AT),
        ChannelMessage("&" * 998, "<" * 600, "&" * 150, "b" * 320, AT, "https://e.example/" * 50),
        summary(),
    ],
)
def test_the_longest_message_fits_the_limits_of_a_block(message: ChannelMessage) -> None:
    text = content_of(message)["blocks"][0]["text"]["text"]

    assert 1 <= len(text) <= 3000
    assert text.count("<") == text.count(">") - text.startswith(">")


def said(body: bytes, status: int = 200) -> Posted:
    return Posted(status, body=body)


@pytest.mark.parametrize(
    ("posted", "result"),
    [
        (said(b'{"ok":true,"ts":"1.2"}'), PostResult.DELIVERED),
        *(
            (said(b'{"ok":false,"error":"%s"}' % one.encode()), PostResult.CHANNEL)
            for one in sorted(CHANNEL_ERRORS)
        ),
        (said(b'{"ok":false,"error":"ratelimited"}'), PostResult.WAIT),
        (Posted(429, retry_after=timedelta(seconds=7)), PostResult.WAIT),
        (said(b'{"ok":false,"error":"service_unavailable"}'), PostResult.FAILED),
        (said(b'{"ok":false,"error":"internal_error"}'), PostResult.UNKNOWN),
        (said(b'{"ok":false,"error":"fatal_error"}'), PostResult.UNKNOWN),
        (said(b'{"ok":false,"error":"msg_too_long"}'), PostResult.REFUSED),
        (said(b'{"ok":false,"error":"not_known_yet"}'), PostResult.REFUSED),
        (said(b'{"ok":false}'), PostResult.REFUSED),
        (said(b"ok"), PostResult.UNKNOWN),
        (said(b"[]"), PostResult.UNKNOWN),
        (said(b"", 404), PostResult.REFUSED),
        (said(b"", 500), PostResult.UNKNOWN),
        (said(b"", 503), PostResult.FAILED),
        (Posted(None, "no answer in time", was_sent=True), PostResult.UNKNOWN),
        (Posted(None, "cannot connect", was_sent=False), PostResult.FAILED),
    ],
)
def test_what_an_answer_means(posted: Posted, result: PostResult) -> None:
    assert answer_of(posted).result is result
