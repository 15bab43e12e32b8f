"""The record of an attempt over HTTP that was not accepted: request line, reply, no secrets."""

import json
from typing import Any

import pytest

from mailqueue.core.conversation import MAX_BODY_BYTES, MAX_BYTES, document_of
from mailqueue.core.verdict import Accepted, Fault, Rejected, Verdict, conversation_of
from tests.adapters.sending.documented import KEY, DocumentedProvider
from tests.adapters.sending.fake import CLOSES, FakeReply, fake, says
from tests.adapters.sending.mails import channel_of, mail, mails, sent
from tests.adapters.sending.providers import POSTMARK, PROVIDERS, SENDGRID

pytestmark = pytest.mark.anyio
each = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.name)


def record(verdict: Verdict) -> dict[str, Any]:
    found = conversation_of(verdict)
    assert found is not None
    document = document_of(found)
    assert len(document.encode()) <= MAX_BYTES
    read: dict[str, Any] = json.loads(document)
    return read


def lines(verdict: Verdict, by: str) -> list[str]:
    return [line["text"] for line in record(verdict)["lines"] if line["by"] == by]


@each
async def test_a_refusal_shows_request_and_reply_and_no_key(provider: DocumentedProvider) -> None:
    hostile = b"<h1>no</h1> \x00\x1b[2J\xff key " + KEY.encode() + b" " + b"z" * 5_000
    headers = {"Retry-After": "7", "X-Request-Id": f"r-{KEY}", "Set-Cookie": "session=1"}
    async with (
        fake([FakeReply(503, hostile, headers)]) as server,
        channel_of(provider.service(server.site)) as channel,
    ):
        [verdict] = await sent(channel, [mail()])

    [*_, first, second] = lines(verdict, "client")[:2]
    assert first.startswith(f"POST http://127.0.0.1:{server.port}/")
    assert second.startswith("(the message, ")
    server_said = lines(verdict, "server")
    assert server_said[0] == "503 Service Unavailable"
    assert "retry-after: 7" in server_said
    assert "x-request-id: r-***" in server_said
    body = record(verdict)["body"]
    assert body.startswith("<h1>no</h1>")
    assert len(body.encode()) <= MAX_BODY_BYTES
    everything = json.dumps(record(verdict))
    assert KEY not in everything
    assert "cookie" not in everything.lower()
    assert f"{len(hostile)} bytes" in lines(verdict, "note")[-1]


@each
async def test_accepted_emails_have_no_record(provider: DocumentedProvider) -> None:
    async with (
        fake([provider.accepts]) as server,
        channel_of(provider.service(server.site)) as channel,
    ):
        [verdict] = await sent(channel, [mail()])

    assert isinstance(verdict, Accepted)
    assert conversation_of(verdict) is None


async def test_a_connection_lost_after_the_request_shows_that_it_was_sent() -> None:
    async with (
        fake([CLOSES]) as server,
        channel_of(SENDGRID.service(server.site)) as channel,
    ):
        [verdict] = await sent(channel, [mail()])

    assert isinstance(verdict, Rejected)
    assert verdict.kind is Fault.AMBIGUOUS
    assert lines(verdict, "client")[0].startswith("POST ")
    assert lines(verdict, "note") == [verdict.detail]
    assert "body" not in record(verdict)


async def test_a_reply_about_several_emails_shows_each_only_its_part() -> None:
    said = [
        {"MessageID": "a", "ErrorCode": 0, "Message": "OK", "To": "n1@example.org"},
        {"ErrorCode": 406, "Message": "inactive", "To": "n2@example.org"},
        {"ErrorCode": 300, "Message": "bad header", "To": "n3@example.org"},
    ]
    async with (
        fake([says(200, said)]) as server,
        channel_of(POSTMARK.service(server.site)) as channel,
    ):
        verdicts = await sent(channel, mails(3))

    assert conversation_of(verdicts[0]) is None
    assert lines(verdicts[1], "client")[1].startswith("(3 messages, ")
    assert "body" not in record(verdicts[1])
    [note] = lines(verdicts[1], "note")
    assert note.startswith("(the reply is about 3 emails; about this one: inactive")
    for verdict, other in ((verdicts[1], "n3@"), (verdicts[2], "n2@")):
        assert "n1@" not in json.dumps(record(verdict))
        assert other not in json.dumps(record(verdict))


async def test_a_pause_after_one_email_does_not_carry_its_record_to_others() -> None:
    limit = says(429, {"errors": [{"message": "too many"}]}, retry_after="30")
    async with (
        fake([limit]) as server,
        channel_of(SENDGRID.service(server.site)) as channel,
    ):
        first, second = await sent(channel, mails(2))

    assert lines(first, "server")[0] == "429 Too Many Requests"
    assert isinstance(second, Rejected)
    assert second.kind is Fault.RATE_LIMITED
    assert conversation_of(second) is None
    assert len(server.requests) == 1
