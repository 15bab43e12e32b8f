"""Several mails in one request, where a provider allows it: each has its own verdict."""

from typing import Any

import orjson
import pytest

from mailqueue.core.verdict import Accepted, AllRefused, Fault, Rejected, Verdict
from tests.adapters.sending.documented import DocumentedProvider
from tests.adapters.sending.fake import CLOSES, FakeReply, fake, says
from tests.adapters.sending.mails import channel_of, mail, mails, sent, with_files
from tests.adapters.sending.providers import POSTMARK, RESEND

pytestmark = [pytest.mark.anyio]
both = pytest.mark.parametrize("provider", [POSTMARK, RESEND], ids=["postmark", "resend"])


def all_taken(provider: DocumentedProvider, count: int) -> FakeReply:
    if provider is RESEND:
        return says(200, {"data": [{"id": f"id{number}"} for number in range(count)]})
    return says(
        200, [{"MessageID": f"id{n}", "ErrorCode": 0, "Message": "OK"} for n in range(count)]
    )


def ids(verdicts: list[Verdict]) -> list[str | None]:
    return [v.provider_message_id if isinstance(v, Accepted) else None for v in verdicts]


@both
async def test_a_group_goes_in_one_call_in_its_order(provider: DocumentedProvider) -> None:
    async with (
        fake([all_taken(provider, 16)]) as server,
        channel_of(provider.service(server.site)) as channel,
    ):
        verdicts = await sent(channel, mails(16))

    assert ids(verdicts) == [f"id{number}" for number in range(16)]
    [request] = server.requests
    provider.check(request)
    assert [str(one.get("to") or one.get("To")) for one in request.json] == [
        str([f"n{n}@example.org"] if provider is RESEND else f"n{n}@example.org")
        for n in range(1, 17)
    ]


async def test_one_bad_mail_of_a_batch_is_refused_alone_by_postmark() -> None:
    said = [
        {"MessageID": "a", "ErrorCode": 0, "Message": "OK"},
        {"ErrorCode": 406, "Message": "inactive"},
        {"MessageID": "c", "ErrorCode": 0, "Message": "OK"},
    ]
    async with (
        fake([says(200, said)]) as server,
        channel_of(POSTMARK.service(server.site)) as channel,
    ):
        verdicts = await sent(channel, mails(3))

    assert ids(verdicts) == ["a", None, "c"]
    assert isinstance(verdicts[1], Rejected)
    assert (verdicts[1].kind, verdicts[1].hard) == (Fault.PERMANENT_RECIPIENT, True)


@pytest.mark.parametrize("data", [[{"id": "a"}, {"id": "c"}], [{"id": "a"}, {}, {"id": "c"}]])
async def test_one_bad_mail_of_a_batch_is_refused_alone_by_resend(data: list[Any]) -> None:
    said = {"data": data, "errors": [{"index": 1, "message": "Invalid `to` field"}]}
    async with (
        fake([says(200, said)]) as server,
        channel_of(RESEND.service(server.site)) as channel,
    ):
        verdicts = await sent(channel, mails(3))

    assert ids(verdicts) == ["a", None, "c"]
    assert isinstance(verdicts[1], Rejected)
    assert verdicts[1].kind is Fault.PERMANENT_MESSAGE


@both
@pytest.mark.parametrize("count", [0, 2, 4])
async def test_an_answer_for_another_number_of_mails_leaves_all_in_doubt(
    provider: DocumentedProvider, count: int
) -> None:
    async with (
        fake([all_taken(provider, count)]) as server,
        channel_of(provider.service(server.site)) as channel,
    ):
        verdicts = await sent(channel, mails(3))

    assert [v.kind for v in verdicts if isinstance(v, Rejected)] == [Fault.AMBIGUOUS] * 3


@both
async def test_a_refusal_of_the_whole_request_is_that_of_each_mail(
    provider: DocumentedProvider,
) -> None:
    slow = next(one for one in provider.refusals if one.kind is Fault.RATE_LIMITED)
    async with fake([slow.reply]) as server, channel_of(provider.service(server.site)) as channel:
        verdicts = await sent(channel, mails(3))

    assert [v.kind for v in verdicts if isinstance(v, Rejected)] == [Fault.RATE_LIMITED] * 3
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("provider", "refusal"),
    [
        (RESEND, {"statusCode": 422, "name": "validation_error", "message": "Invalid `to` field"}),
        (POSTMARK, {"ErrorCode": 300, "Message": "Invalid 'To' address: 'n3@example.org'."}),
    ],
)
async def test_mail_does_not_fail_for_the_fault_of_another_in_its_call(
    provider: DocumentedProvider, refusal: Any
) -> None:
    refused = says(422, refusal)
    replies = [refused, all_taken(provider, 2), refused, refused, provider.accepts]
    async with fake(replies) as server, channel_of(provider.service(server.site)) as channel:
        verdicts = await sent(channel, mails(4))

    assert [isinstance(verdict, Accepted) for verdict in verdicts] == [True, True, False, True]
    for request in server.requests:
        provider.check(request)


async def test_mail_with_files_goes_by_itself_where_batches_take_none() -> None:
    plain = mails(4)
    async with (
        fake([all_taken(RESEND, 2), RESEND.accepts, all_taken(RESEND, 2)]) as server,
        channel_of(RESEND.service(server.site)) as channel,
    ):
        verdicts = await sent(channel, [*plain[:2], with_files(), *plain[2:]])

    assert all(isinstance(verdict, Accepted) for verdict in verdicts)
    paths = [request.path for request in server.requests]
    assert paths == ["/emails/batch", "/emails", "/emails/batch"]
    for request in server.requests:
        RESEND.check(request)


async def test_resend_is_asked_again_under_the_same_key_when_no_answer_came() -> None:
    for batch, taken in ((mails(1), RESEND.accepts), (mails(3), all_taken(RESEND, 3))):
        async with (
            fake([CLOSES, taken]) as server,
            channel_of(RESEND.service(server.site)) as channel,
        ):
            verdicts = await sent(channel, batch)

        assert all(isinstance(verdict, Accepted) for verdict in verdicts)
        first, second = server.requests
        assert first.body == second.body
        assert first.headers["idempotency-key"] == second.headers["idempotency-key"]


@pytest.mark.parametrize("number", [8, 16, 20])
async def test_a_refusal_the_second_time_says_nothing_of_the_first(number: int) -> None:
    later = RESEND.refusals[number]
    assert later.kind in (Fault.TRANSIENT, Fault.RATE_LIMITED)
    async with (
        fake([CLOSES, later.reply]) as server,
        channel_of(RESEND.service(server.site)) as channel,
    ):
        [verdict] = await sent(channel, mails(1))

    assert isinstance(verdict, Rejected)
    assert verdict.kind is Fault.AMBIGUOUS


async def test_what_was_taken_under_the_key_before_is_taken() -> None:
    said = {"statusCode": 409, "name": "invalid_idempotent_request", "message": "other body"}
    async with (
        fake([says(409, said)]) as server,
        channel_of(RESEND.service(server.site)) as channel,
    ):
        [verdict] = await sent(channel, mails(1))

    assert isinstance(verdict, Accepted)


async def test_inactive_recipients_of_a_mail_that_was_taken_are_named() -> None:
    text = (
        "Message OK, but will not deliver to these inactive addresses: bob@example.org, "
        "Eve@example.org. Inactive recipients are ones that have generated a hard bounce."
    )
    said = {"MessageID": "a", "ErrorCode": 0, "Message": text}
    three = mail(to=("ann@example.org", "bob@example.org", "eve@example.org"))
    async with (
        fake([says(200, said)]) as server,
        channel_of(POSTMARK.service(server.site)) as channel,
    ):
        [verdict] = await sent(channel, [three])

    assert isinstance(verdict, Accepted)
    assert [one.address for one in verdict.refused] == ["bob@example.org", "eve@example.org"]
    assert all(one.why.hard for one in verdict.refused)


async def test_a_batch_stays_within_the_size_of_a_call() -> None:
    async with fake([POSTMARK.accepts]) as server:
        service = POSTMARK.service(server.site)
        assert (service.most_in_call, service.max_call_bytes) == (500, 50 * 1024 * 1024)
        service.max_call_bytes = 500
        async with channel_of(service) as channel:
            await sent(channel, mails(3))

    assert [orjson.loads(one.body).__class__ for one in server.requests] == [dict] * 3


INACTIVE = (
    "You tried to send to recipient(s) that have been marked as inactive. Found inactive "
    "addresses: {}. Inactive recipients are ones that have generated a hard bounce, a spam "
    "complaint, or a manual suppression."
)


@pytest.mark.parametrize(
    ("named", "gone"),
    [
        ("bob@example.org", {"bob@example.org"}),
        ("Bob@Example.org, eve@example.org", {"bob@example.org", "eve@example.org"}),
        ("joann@example.org, eve@example.org.uk, bob@example.org", {"bob@example.org"}),
    ],
)
async def test_inactive_recipients_of_a_refused_mail_are_only_those_that_are_named(
    named: str, gone: set[str]
) -> None:
    said = {"ErrorCode": 406, "Message": INACTIVE.format(named)}
    three = mail(to=("ann@example.org", "bob@example.org", "eve@example.org"))
    async with (
        fake([says(422, said)]) as server,
        channel_of(POSTMARK.service(server.site)) as channel,
    ):
        [verdict] = await sent(channel, [three])

    assert isinstance(verdict, AllRefused)
    assert {one.address for one in verdict.refused if one.why.hard} == gone
    others = {one.why.kind for one in verdict.refused if one.address not in gone}
    assert others == {Fault.TRANSIENT}


async def test_of_several_recipients_none_is_gone_where_none_is_named() -> None:
    said = {"ErrorCode": 406, "Message": "inactive"}
    two = mail(to=("ann@example.org", "bob@example.org"))
    async with (
        fake([says(422, said)]) as server,
        channel_of(POSTMARK.service(server.site)) as channel,
    ):
        [verdict] = await sent(channel, [two])

    assert isinstance(verdict, Rejected)
    assert (verdict.kind, verdict.hard) == (Fault.PERMANENT_MESSAGE, False)
