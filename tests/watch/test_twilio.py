"""The fake of Twilio answers Twilio's own client; our requests, answers and signatures fit it."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as some
from twilio.base.exceptions import TwilioRestException
from twilio.http.http_client import TwilioHttpClient
from twilio.request_validator import RequestValidator
from twilio.rest import Client

from mailqueue.adapters.channels.twilio.errors import MEANING_BY_CODE, reason_of
from mailqueue.adapters.channels.twilio.posting import answer_of, content_of, text_of
from mailqueue.adapters.channels.twilio.requests import (
    fields_of,
    is_signed,
    reply_of,
    report_of,
    signature_of,
)
from mailqueue.core.secret import Secret
from mailqueue.ports.channel import ChannelAddress, ChannelMessage, MailLine, PostResult
from mailqueue.ports.webhook import Posted
from tests.watch.fake_twilio import fake_twilio, message_id
from tests.watch.watching import ACCOUNT, AUTH_TOKEN, PHONE, SENDER, TEMPLATE

pytestmark = pytest.mark.anyio
AT = datetime(2030, 5, 1, 8, tzinfo=UTC)
MESSAGE = ChannelMessage(
    "Invoice 81",
    "Ann <ann@example.com>",
    "Please pay",
    "bob@example.com",
    AT,
    "https://mail.example.com/?id=1",
)
OPEN = ChannelAddress(PHONE, ACCOUNT, SENDER, TEMPLATE, is_open=True)
CLOSED = ChannelAddress(PHONE, ACCOUNT, SENDER, TEMPLATE)
URL = "https://mail.example.com/channels/whatsapp/1/2?a=b"
TEXTS = some.text(some.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


class ToLoopback(TwilioHttpClient):  # type: ignore[misc]
    """Sends requests for api.twilio.com to a port of loopback."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._origin = f"http://127.0.0.1:{port}"

    def request(self, method: str, url: str, *args: Any, **options: Any) -> Any:
        there = url.replace("https://api.twilio.com", self._origin)
        return super().request(method, there, *args, **options)


def client(port: int, token: str = AUTH_TOKEN) -> Client:
    return Client(ACCOUNT, token, http_client=ToLoopback(port))


@pytest.mark.parametrize(
    "content",
    [
        {"body": "Hello"},
        {"content_sid": TEMPLATE, "content_variables": '{"1":"a","2":"b","3":"c"}'},
    ],
)
async def test_the_official_client_sends_to_the_fake(content: dict[str, str]) -> None:
    async with fake_twilio() as twilio:
        create = client(twilio.port).messages.create
        to, sender = f"whatsapp:{PHONE}", f"whatsapp:{SENDER}"
        sent = await asyncio.to_thread(create, to=to, from_=sender, **content)

        assert (sent.sid, sent.status) == (message_id(1), "queued")
        assert twilio.messages[0]["To"] == to


@pytest.mark.parametrize(
    ("token", "sender", "code"), [("wrong", SENDER, 20003), (AUTH_TOKEN, "+15559999999", 63007)]
)
async def test_the_official_client_reads_the_errors_of_the_fake(
    token: str, sender: str, code: int
) -> None:
    async with fake_twilio() as twilio:
        create = client(twilio.port, token).messages.create
        with pytest.raises(TwilioRestException) as caught:
            await asyncio.to_thread(
                create, to=f"whatsapp:{PHONE}", from_=f"whatsapp:{sender}", body="Hello"
            )

        assert caught.value.code == code


def test_free_text_is_sent_after_a_reply_and_the_template_otherwise() -> None:
    assert content_of(OPEN, MESSAGE) == {
        "Body": "Invoice 81\nAnn <ann@example.com>\nPlease pay\nbob@example.com\n"
        "https://mail.example.com/?id=1"
    }
    found = content_of(CLOSED, MESSAGE)
    assert found["ContentSid"] == TEMPLATE
    assert orjson.loads(found["ContentVariables"]) == {
        "1": "bob@example.com",
        "2": "Ann <ann@example.com>",
        "3": "Invoice 81",
    }


@pytest.mark.parametrize(
    "message",
    [
        ChannelMessage("", "", "", "bob@example.com", AT),
        ChannelMessage("a \n\t b" * 200, "<" * 600, "&" * 150, "b" * 320, AT),
        ChannelMessage(
            "12 new emails", "", "", "b", AT, None, [MailLine("A" * 900, "B" * 998)] * 5
        ),
        ChannelMessage("x", "y", "z", "b", AT, "https://e.example/" * 80),
    ],
)
def test_the_longest_and_shortest_message_fit_the_limits(message: ChannelMessage) -> None:
    assert 1 <= len(text_of(message)) <= 1600
    variables = orjson.loads(content_of(CLOSED, message)["ContentVariables"])
    assert all(one and "\n" not in one and "  " not in one for one in variables.values())


def refused(code: int, status: int = 400) -> Posted:
    return Posted(status, body=orjson.dumps({"code": code, "message": f"To {PHONE}"}))


@pytest.mark.parametrize(
    ("posted", "result"),
    [
        (Posted(201, body=b'{"sid":"SM1","status":"queued"}'), PostResult.SENT),
        (Posted(201, body=b'{"sid":"SM1","status":"failed","error_code":63024}'), "refused"),
        (Posted(201, body=b"ok"), PostResult.UNKNOWN),
        (Posted(201, body=b"[]"), PostResult.UNKNOWN),
        *((refused(code), meaning) for code, meaning in MEANING_BY_CODE.items()),
        (refused(63016), PostResult.OUTSIDE),
        (refused(21610), PostResult.OPTED_OUT),
        (refused(63024), PostResult.REFUSED),
        (refused(20003, 401), PostResult.CHANNEL),
        (refused(99999), PostResult.REFUSED),
        (refused(99999, 404), PostResult.CHANNEL),
        (refused(21730, 500), PostResult.FAILED),
        (Posted(401), PostResult.CHANNEL),
        (Posted(429, retry_after=timedelta(seconds=7)), PostResult.WAIT),
        (Posted(500), PostResult.UNKNOWN),
        (Posted(503), PostResult.FAILED),
        (Posted(None, "no answer in time", was_sent=True), PostResult.UNKNOWN),
        (Posted(None, "cannot connect", was_sent=False), PostResult.FAILED),
    ],
)
def test_what_an_answer_means(posted: Posted, result: str) -> None:
    answer = answer_of(posted)

    assert answer.result == result
    assert PHONE not in (answer.reason or "")


@given(some.lists(some.tuples(TEXTS, TEXTS), max_size=8), some.booleans())
def test_our_signature_is_that_of_twilios_validator(
    pairs: list[tuple[str, str]], has_port: bool
) -> None:
    url = URL.replace(".com/", ".com:443/") if has_port else URL
    by_name = dict(pairs)
    token = Secret(AUTH_TOKEN)
    validator = RequestValidator(AUTH_TOKEN)
    theirs = validator.compute_signature(url, by_name)

    assert signature_of(url, [*by_name.items()], token) == theirs
    assert is_signed(theirs, URL, [*by_name.items()], token)
    assert validator.validate(URL, by_name, signature_of(url, [*by_name.items()], token))
    assert not is_signed(theirs, URL, [*by_name.items(), ("more", "x")], token)
    assert not is_signed(theirs, URL, [*by_name.items()], Secret("other"))
    assert not is_signed(theirs, URL + "x", [*by_name.items()], token)


@pytest.mark.parametrize(
    "body", [b"a=%FF", b"\xff=1", b"a", b"&".join([b"a=1"] * 201), "ä=1".encode()]
)
def test_a_body_that_is_no_form_has_no_fields(body: bytes) -> None:
    assert fields_of(body) is None


@pytest.mark.parametrize(
    ("status", "code", "word", "meaning"),
    [
        ("sent", "", "sent", PostResult.SENT),
        ("delivered", "", "delivered", PostResult.DELIVERED),
        ("read", "", "delivered", PostResult.DELIVERED),
        ("failed", "63016", "failed", PostResult.OUTSIDE),
        ("undelivered", "63024", "failed", PostResult.REFUSED),
        ("undelivered", "12345", "failed", PostResult.REFUSED),
        ("undelivered", "²", "failed", PostResult.REFUSED),
        ("queued", "", None, None),
        ("not_known_yet", "", None, None),
    ],
)
def test_what_a_report_means(
    status: str, code: str, word: str | None, meaning: PostResult | None
) -> None:
    fields = [("MessageSid", message_id(1)), ("MessageStatus", status), ("ErrorCode", code)]
    found = report_of(fields)

    assert (found and found.word, found and found.meaning) == (word, meaning)
    assert report_of([("MessageSid", "x"), *fields]) is None


@pytest.mark.parametrize(
    ("body", "is_out", "word"),
    [
        ("STOP", True, "STOP"),
        (" stop. ", True, "STOP"),
        ("Unsubscribe", True, "UNSUBSCRIBE"),
        ("START", False, "START"),
        ("please stop by", False, None),
        ("", False, None),
    ],
)
def test_which_replies_are_words(body: str, is_out: bool, word: str | None) -> None:
    sides = [("From", f"whatsapp:{PHONE}"), ("To", f"whatsapp:{SENDER}"), ("Body", body)]
    found = reply_of([("MessageSid", message_id(1)), ("AccountSid", ACCOUNT), *sides])

    assert found is not None
    assert (found.number, found.sender, found.is_out, found.word) == (PHONE, SENDER, is_out, word)
    assert reply_of(sides) is None


def test_a_reason_says_what_is_wrong_without_texts_of_the_provider() -> None:
    assert reason_of(63024) == "Twilio: the number is not valid (63024)"
    assert reason_of(99999) == "Twilio: 99999"
