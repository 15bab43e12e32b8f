"""Connections of every provider's transport: reused, replaced, and paused after refusals."""

from pathlib import Path

import pytest

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.sending.http import HttpAccount, HttpChannel, HttpTransport
from mailqueue.core.verdict import Accepted, Fault, Rejected, Stage
from mailqueue.ports.transport import Channel, Transport
from tests.adapters.sending.documented import DocumentedProvider
from tests.adapters.sending.fake import CLOSES, SILENT, FakeReply, fake
from tests.adapters.sending.mails import (
    IMPATIENT,
    PATIENT,
    channel_of,
    mail,
    mails,
    rejected,
    sent,
)
from tests.adapters.sending.providers import GMAIL, PROVIDERS, RESEND
from tests.smtp.certificates import server_context, trusting_context

pytestmark = [pytest.mark.anyio]
each = pytest.mark.parametrize("provider", PROVIDERS, ids=[one.name for one in PROVIDERS])
# Two answers of one provider that say the same to all of a batch.
ONE_BY_ONE = [one for one in PROVIDERS if one.name not in ("postmark", "resend")]
each_single = pytest.mark.parametrize("provider", ONE_BY_ONE, ids=[one.name for one in ONE_BY_ONE])


@each
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(provider: DocumentedProvider, status: int) -> None:
    async with fake([provider.accepts]) as other:
        there = {"location": f"http://127.0.0.1:{other.port}/"}
        async with fake([FakeReply(status, b"", there)]) as server:
            verdict = await rejected(provider.service(server.site), mail())

        assert (verdict.kind, verdict.stage) == (Fault.UNRECOGNIZED, Stage.DOT)
        assert (len(server.requests), len(other.requests)) == (1, 0)


@each
@pytest.mark.parametrize(
    "reply", [SILENT, CLOSES, FakeReply(raw=b"SSH-2.0-x\r\n\r\n", closes=True)]
)
async def test_a_mail_without_an_answer_is_in_doubt(
    provider: DocumentedProvider, reply: FakeReply
) -> None:
    async with (
        fake([reply]) as server,
        channel_of(provider.service(server.site), timeouts=IMPATIENT) as channel,
    ):
        [verdict] = await sent(channel, [mail()])

        assert isinstance(verdict, Rejected)
        assert (verdict.kind, verdict.stage, verdict.code) == (Fault.AMBIGUOUS, Stage.DOT, "")
        assert not channel.is_usable
    assert len(server.requests) == (2 if provider is RESEND else 1)


@each
async def test_without_a_listening_server_nothing_is_in_doubt(provider: DocumentedProvider) -> None:
    async with fake() as server:
        site = server.site
    opened = await HttpTransport(
        provider.service(site), HttpAccount(NetworkPolicy(allow_private=True), PATIENT)
    ).open()

    assert isinstance(opened, Rejected)
    assert (opened.kind, opened.stage) == (Fault.TRANSIENT, Stage.CONNECT)


@each
async def test_an_account_of_a_tenant_does_not_reach_inside(provider: DocumentedProvider) -> None:
    async with fake([provider.accepts]) as server:
        opened = await HttpTransport(provider.service(server.site), HttpAccount()).open()

    assert isinstance(opened, Rejected)
    assert (opened.kind, opened.stage) == (Fault.ACCOUNT, Stage.CONNECT)
    assert server.connections == 0


@each
async def test_a_worker_that_may_not_finish_sends_nothing(provider: DocumentedProvider) -> None:
    async with (
        fake([provider.accepts]) as server,
        channel_of(provider.service(server.site)) as channel,
    ):
        verdicts = await sent(channel, mails(3), may_finish=lambda: False)

    assert [v.kind for v in verdicts if isinstance(v, Rejected)] == [Fault.TRANSIENT] * 3
    assert server.requests == []


@each
async def test_after_being_too_fast_nothing_is_asked_until_the_time_named(
    provider: DocumentedProvider,
) -> None:
    slow = next(one for one in provider.refusals if one.kind is Fault.RATE_LIMITED)
    reply = FakeReply(slow.status, slow.reply.body, {**slow.headers, "retry-after": "120"})
    async with fake([reply]) as server, channel_of(provider.service(server.site)) as channel:
        verdicts = await sent(channel, mails(20))
        verdicts += await sent(channel, mails(20))

        assert channel.is_usable
    assert len(server.requests) == 1
    for verdict in verdicts:
        assert isinstance(verdict, Rejected)
        assert verdict.kind is Fault.RATE_LIMITED
        assert verdict.retry_after is not None
        assert 100 <= verdict.retry_after.total_seconds() <= 120


@each
async def test_an_account_that_is_refused_says_so_when_it_is_opened_again(
    provider: DocumentedProvider,
) -> None:
    refusal = next(one for one in provider.refusals if one.stops)
    async with fake([refusal.reply]) as server:
        transport = HttpTransport(
            provider.service(server.site), HttpAccount(NetworkPolicy(allow_private=True), PATIENT)
        )
        channel = await transport.open()
        assert isinstance(channel, HttpChannel)
        verdicts = await sent(channel, mails(5)[:3])

        assert not channel.is_usable
        again = await transport.open()

    assert isinstance(again, Rejected)
    assert {(v.kind, v.stage) for v in (*verdicts, again) if isinstance(v, Rejected)} == {
        (Fault.ACCOUNT, Stage.CONNECT)
    }
    assert len(server.requests) == (2 if provider is GMAIL else 1)


@each_single
async def test_a_connection_is_kept_for_many_mails(provider: DocumentedProvider) -> None:
    async with (
        fake([provider.accepts]) as server,
        channel_of(provider.service(server.site)) as channel,
    ):
        for _ in range(3):
            verdicts = await sent(channel, mails(5))
            assert all(isinstance(verdict, Accepted) for verdict in verdicts)

        assert channel.is_usable
    assert (server.connections, len(server.requests)) == (1, 15)


@each
async def test_a_provider_that_closes_after_each_answer_is_connected_to_again(
    provider: DocumentedProvider,
) -> None:
    closing = FakeReply(
        provider.accepts.status, provider.accepts.body, provider.accepts.headers, closes=True
    )
    async with fake([closing]) as server, channel_of(provider.service(server.site)) as channel:
        for one in mails(3):
            assert isinstance((await sent(channel, [one]))[0], Accepted)

    assert server.connections == 3


@each_single
async def test_mails_behind_one_in_doubt_are_not_sent(provider: DocumentedProvider) -> None:
    async with (
        fake([provider.accepts, CLOSES, provider.accepts]) as server,
        channel_of(provider.service(server.site)) as channel,
    ):
        first, doubtful, *rest = await sent(channel, mails(4))

    assert isinstance(first, Accepted)
    assert isinstance(doubtful, Rejected)
    assert doubtful.kind is Fault.AMBIGUOUS
    assert {(v.kind, v.stage) for v in rest if isinstance(v, Rejected)} == {
        (Fault.TRANSIENT, Stage.CONNECT)
    }
    assert len(server.requests) == 2


@each_single
async def test_two_answers_to_one_question_end_the_connection(provider: DocumentedProvider) -> None:
    twice = FakeReply(raw=provider.accepts.octets() * 2)
    bad = next(one for one in provider.refusals if one.kind is Fault.PERMANENT_MESSAGE)
    async with (
        fake([twice, bad.reply]) as server,
        channel_of(provider.service(server.site)) as channel,
    ):
        first, second = await sent(channel, mails(2))

    assert isinstance(first, Accepted)
    assert isinstance(second, Rejected)  # not credited with what came before it was asked
    assert server.connections == 2


@each
async def test_the_certificate_must_be_for_the_providers_host(
    provider: DocumentedProvider, tmp_path: Path
) -> None:
    context = server_context(tmp_path, name="api.example.com")
    async with fake([provider.accepts], context=context) as server:
        transport = HttpTransport(
            provider.service(server.site),
            HttpAccount(NetworkPolicy(allow_private=True), PATIENT),
            tls_context=trusting_context(tmp_path),
        )
        opened = await transport.open()

    assert isinstance(opened, Rejected)
    assert opened.kind is Fault.ACCOUNT
    assert "certificate" in opened.detail
    assert server.requests == []


@each
async def test_mail_goes_out_by_tls(provider: DocumentedProvider, tmp_path: Path) -> None:
    context = server_context(tmp_path, name="127.0.0.1")
    async with fake([provider.accepts], context=context) as server:
        transport: Transport = HttpTransport(
            provider.service(server.site),
            HttpAccount(NetworkPolicy(allow_private=True), PATIENT),
            tls_context=trusting_context(tmp_path),
        )
        channel = await transport.open()
        assert isinstance(channel, HttpChannel)
        kept: Channel = channel
        [verdict] = await sent(channel, [mail()])
        await kept.close()

    assert isinstance(verdict, Accepted)
    provider.check(server.requests[0])


@each
def test_the_usual_place_is_the_providers_own_over_tls(provider: DocumentedProvider) -> None:
    site = provider.make(None, {}).site  # type: ignore[arg-type]

    assert (site.scheme, site.port) == ("https", 443)
    assert "." in site.host
