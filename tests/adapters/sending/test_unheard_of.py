"""OpenWorld: an undocumented response of a provider neither fails a mail nor suspends an
account.
"""

import gzip

import orjson
import pytest

from mailqueue.core.limits import refusal_of
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage, Verdict
from tests.adapters.sending.documented import DocumentedProvider
from tests.adapters.sending.fake import FakeReply, fake, says
from tests.adapters.sending.mails import channel_of, mails, rejected, sent, verdict_of
from tests.adapters.sending.mails import mail as one_mail
from tests.adapters.sending.providers import POSTMARK, PROVIDERS, RESEND

pytestmark = [pytest.mark.anyio]
each = pytest.mark.parametrize("provider", PROVIDERS, ids=[one.name for one in PROVIDERS])
batching = pytest.mark.parametrize("provider", [POSTMARK, RESEND], ids=["postmark", "resend"])

ODD_WORDS = "Qapla' batlh je"
ODD_BODIES = {
    "empty": b"",
    "text": ODD_WORDS.encode(),
    "page": f"<html><body>{ODD_WORDS}</body></html>".encode(),
    "json": orjson.dumps({"qapla": ODD_WORDS}),
    "list": b"[]",
    "null": b"null",
    "sendgrid": orjson.dumps({"errors": [{"message": ODD_WORDS, "field": None}]}),
    "mailgun": orjson.dumps({"message": ODD_WORDS}),
    "postmark": orjson.dumps({"ErrorCode": 7777, "Message": ODD_WORDS}),
    "resend": orjson.dumps({"statusCode": 1, "name": "qapla", "message": ODD_WORDS}),
    "smtp2go": orjson.dumps({"data": {"error": ODD_WORDS, "error_code": "E_ApiResponseCodes.Q"}}),
    "gmail": orjson.dumps({"error": {"code": 1, "message": ODD_WORDS, "errors": []}}),
    "ses": orjson.dumps({"__type": "QaplaException", "message": ODD_WORDS}),
}
ODD_STATUSES = (300, 302, 400, 403, 404, 405, 406, 410, 415, 418, 421, 422, 451, 460, 499)
QUIET = frozenset({Fault.UNRECOGNIZED, Fault.RATE_LIMITED, Fault.TRANSIENT})
"""Faults that cost a mail at most one attempt, and pause an account for a limited time only."""

ODD_SUCCESSES = {
    "other JSON": says(200, {"hello": "world"}),
    "empty": FakeReply(200, b""),
    "no content": FakeReply(204, b""),
    "created": says(201, {"ok": True}),
    "gzip": FakeReply(200, gzip.compress(b'{"id": "x"}'), {"content-encoding": "gzip"}),
    "page": FakeReply(200, b"<html>welcome</html>"),
    "text": FakeReply(200, b"Mailgun Magnificent API"),
    "list": FakeReply(200, b"[]"),
    "null": FakeReply(200, b"null"),
    "a number for an id": says(200, {"id": 5, "MessageId": 5, "MessageID": 5}),
    "no text": FakeReply(200, b"\xff"),
    "sandbox": FakeReply(200, b"", {"x-message-id": "x"}),
}

LIMITS = (
    (420, "Domain x is not allowed to send: recipient limit exceeded, try again later", True),
    (429, "slow", False),
    (403, "Too many bad requests. Temporary block", False),
    (401, "Maximum credits exceeded", True),
    (403, "Daily message quota exceeded", True),
    (400, "You have exceeded your hourly sending limit", True),
    (418, "rate limit exceeded", False),
)


def kind_of(verdict: Verdict) -> Fault:
    assert isinstance(verdict, Rejected), verdict
    return verdict.kind


@each
@pytest.mark.parametrize("status", ODD_STATUSES)
async def test_an_unknown_refusal_fails_no_mail_and_suspends_no_account(
    provider: DocumentedProvider, status: int
) -> None:
    replies = [FakeReply(status, body) for body in ODD_BODIES.values()]
    async with fake(replies) as server, channel_of(provider.service(server.site)) as channel:
        for shape in ODD_BODIES:
            [verdict] = await sent(channel, [one_mail()])

            assert kind_of(verdict) in QUIET, shape
            assert isinstance(verdict, Rejected)
            assert (verdict.stage, verdict.hard, verdict.stops) == (Stage.DOT, False, False)


@each
@pytest.mark.parametrize("name", ODD_SUCCESSES)
async def test_a_success_that_is_not_understood_is_in_doubt_and_stops_the_account(
    provider: DocumentedProvider, name: str
) -> None:
    async with (
        fake([ODD_SUCCESSES[name]]) as server,
        channel_of(provider.service(server.site)) as channel,
    ):
        [first] = await sent(channel, [one_mail()])
        rest = await sent(channel, mails(3))

        assert not channel.is_usable
    assert isinstance(first, Rejected)
    assert (first.kind, first.stage, first.stops) == (Fault.AMBIGUOUS, Stage.DOT, True)
    assert "an unknown body" in first.detail
    # What was not handed over is in no doubt, and goes nowhere.
    assert {(kind_of(one), one.stage) for one in rest if isinstance(one, Rejected)} == {
        (Fault.ACCOUNT, Stage.CONNECT)
    }
    assert len(server.requests) == 1


@each
@pytest.mark.parametrize(("status", "words", "is_quota"), LIMITS)
async def test_a_limit_is_known_by_its_words_from_every_provider(
    provider: DocumentedProvider, status: int, words: str, is_quota: bool
) -> None:
    """It spends no attempt, in whatever format the words come."""
    bodies = [
        orjson.dumps(document)
        for document in (
            {"errors": [{"message": words, "field": None}]},
            {"message": words},
            {"ErrorCode": 7777, "Message": words},
            {"statusCode": 1, "name": "odd", "message": words},
            {"data": {"error": words, "error_code": "E_ApiResponseCodes.Q"}},
            {"error": {"code": status, "message": words, "errors": []}},
            {"__type": "OddException", "message": words},
        )
    ]
    for body in (*bodies, words.encode()):
        async with fake([FakeReply(status, body)]) as server:
            verdict = await rejected(provider.service(server.site), one_mail())

        is_known_otherwise = verdict.kind is not Fault.RATE_LIMITED
        spoken = words.split(",", maxsplit=1)[0] in verdict.detail
        assert not (spoken and is_known_otherwise), verdict
        assert not spoken or verdict.is_quota is is_quota or status in (420, 429)


@each
async def test_the_time_that_words_name_is_waited_for_by_their_clock(
    provider: DocumentedProvider,
) -> None:
    words = "limit exceeded, try again after Mon, 25 Aug 2025 07:00:31 UTC"
    said = FakeReply(429, words.encode(), {"date": "Mon, 25 Aug 2025 06:50:31 GMT"})
    async with fake([said]) as server:
        verdict = await rejected(provider.service(server.site), one_mail())

    assert verdict.kind is Fault.RATE_LIMITED
    assert verdict.retry_after is not None
    assert verdict.retry_after.total_seconds() == 600


@batching
async def test_of_a_batch_that_is_refused_for_no_known_reason_one_mail_pays(
    provider: DocumentedProvider,
) -> None:
    async with (
        fake([FakeReply(418, b"teapot")]) as server,
        channel_of(provider.service(server.site)) as channel,
    ):
        verdicts = await sent(channel, mails(20))

    kinds = [kind_of(one) for one in verdicts]
    assert kinds.count(Fault.UNRECOGNIZED) == 1
    assert kinds.count(Fault.TRANSIENT) == 19
    assert {one.stage for one in verdicts[1:] if isinstance(one, Rejected)} == {Stage.CONNECT}
    assert len(server.requests) <= 6


async def test_the_same_refusal_is_told_from_another_by_every_shape() -> None:
    async with fake([says(418, {"message": "a"}), says(418, {"message": "b"})]) as server:
        service = PROVIDERS[2].service(server.site)
        first, second = [await rejected(service, one_mail()) for _ in range(2)]

    assert refusal_of(first.code, "", first.detail) == refusal_of(second.code, "", second.detail)


@each
async def test_after_an_odd_answer_a_usual_one_is_taken(provider: DocumentedProvider) -> None:
    async with fake([FakeReply(418, b"teapot"), provider.accepts]) as server:
        service = provider.service(server.site)
        await rejected(service, one_mail())

        assert isinstance(await verdict_of(service, one_mail()), Accepted)
