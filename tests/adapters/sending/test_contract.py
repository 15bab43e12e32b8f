"""The promises that every provider's transport keeps."""

from datetime import UTC, datetime, timedelta

import pytest

from mailqueue.adapters.http.model import HttpResponse
from mailqueue.adapters.sending.api import ProviderApi, ProviderMail
from mailqueue.adapters.sending.outcomes import retry_after_of
from mailqueue.core.verdict import Accepted, AllRefused, Fault, Rejected, Stage
from tests.adapters.sending.documented import KEY, DocumentedProvider, Refusal
from tests.adapters.sending.fake import FakeReply, fake
from tests.adapters.sending.mails import (
    mail,
    rejected,
    verdict_of,
    with_files,
)
from tests.adapters.sending.providers import PROVIDERS, RESEND, SENDGRID, SES

pytestmark = [pytest.mark.anyio]
each = pytest.mark.parametrize("provider", PROVIDERS, ids=[one.name for one in PROVIDERS])
each_refusal = pytest.mark.parametrize(
    ("provider", "refusal"),
    [
        pytest.param(provider, refusal, id=f"{provider.name}-{number}-{refusal.status}")
        for provider in PROVIDERS
        for number, refusal in enumerate(provider.refusals)
    ],
)


@each
async def test_a_mail_is_taken_and_the_providers_id_is_kept(provider: DocumentedProvider) -> None:
    async with fake([provider.accepts]) as server:
        verdict = await verdict_of(provider.service(server.site), mail())

    assert isinstance(verdict, Accepted)
    assert verdict.provider_message_id == provider.message_id
    assert verdict.refused == ()
    [request] = server.requests
    provider.check(request)


@each
async def test_everything_a_mail_may_have_goes_in_fields_the_provider_knows(
    provider: DocumentedProvider,
) -> None:
    full = mail(
        "ann@example.org",
        "bob@example.org",
        "eve@example.org",
        cc=["Bob <bob@example.org>"],
        reply_to=["desk@example.com"],
        headers=[("X-Order", "81"), ("List-Unsubscribe", "<https://example.com/u>")],
    )
    async with fake([provider.accepts]) as server:
        for one in (full, with_files(), mail(text=None), mail(html=None)):
            assert isinstance(await verdict_of(provider.service(server.site), one), Accepted)

    for request in server.requests:
        provider.check(request)
        assert b"hunter2" not in request.body


@each_refusal
async def test_each_documented_refusal_has_its_meaning(
    provider: DocumentedProvider, refusal: Refusal
) -> None:
    async with fake([refusal.reply]) as server:
        verdict = await rejected(provider.service(server.site), mail())

    assert verdict.kind is refusal.kind
    assert verdict.hard is refusal.hard
    assert (verdict.stage is Stage.CONNECT) is refusal.stops
    assert verdict.code == str(refusal.status)
    assert verdict.detail


@each
async def test_no_refusal_shows_the_key_though_the_provider_echoes_it(
    provider: DocumentedProvider,
) -> None:
    for refusal in provider.refusals:
        shown = refusal.reply.body.replace(b"no", f"no {KEY}".encode())
        async with fake([FakeReply(refusal.status, shown, refusal.headers)]) as server:
            service = provider.service(server.site)
            verdict = await verdict_of(service, mail())

        assert KEY not in repr(verdict)
        assert KEY not in repr(service.call([written_by(service)]))


@each
async def test_no_refusal_shows_the_key_as_it_goes_over_the_wire(
    provider: DocumentedProvider,
) -> None:
    """Mailgun's key is encoded, as Basic authentication requires."""
    async with fake([provider.accepts]) as first:
        service = provider.service(first.site)
        await verdict_of(service, mail())
    spoken = [
        value.split()[-1]
        for value in first.requests[0].headers.values()
        if "hunter2" in value or value.startswith("Basic ")
    ]
    for words in spoken:
        async with fake([FakeReply(400, f"bad {words}".encode())]) as server:
            verdict = await rejected(provider.service(server.site), mail())

        assert words not in verdict.detail
        assert "***" in verdict.detail


def written_by(service: ProviderApi) -> ProviderMail:
    written = service.write(mail())
    assert isinstance(written, ProviderMail)
    return written


@each
async def test_a_success_that_is_cut_off_is_in_doubt(provider: DocumentedProvider) -> None:
    longer = {"content-length": str(len(provider.accepts.body) + 50)}
    cut = FakeReply(
        provider.accepts.status,
        provider.accepts.body,
        {**provider.accepts.headers, **longer},
        cut=max(0, len(provider.accepts.body) - 4),
    )
    async with fake([cut]) as server:
        verdict = await rejected(provider.service(server.site), mail())

    assert (verdict.kind, verdict.stage) == (Fault.AMBIGUOUS, Stage.DOT)


@each
async def test_a_huge_answer_is_not_read_to_its_end(provider: DocumentedProvider) -> None:
    body = provider.accepts.body + b" " * 3_000_000
    async with fake([FakeReply(200, body)]) as server:
        verdict = await rejected(provider.service(server.site), mail())

    assert (verdict.kind, verdict.stage) == (Fault.AMBIGUOUS, Stage.DOT)


@pytest.mark.parametrize("provider", [one for one in PROVIDERS if one is not RESEND])
async def test_a_bad_address_among_several_does_not_take_the_others_with_it(
    provider: DocumentedProvider,
) -> None:
    bad = next(
        one for one in provider.refusals if one.kind is Fault.PERMANENT_RECIPIENT and not one.hard
    )
    text = bad.reply.body.replace(b"'to'", b"'to' ann@example.org").replace(
        b"Invalid 'To' address: 'x'", b"Invalid 'To' address: 'ann@example.org'"
    )
    two = mail(to=("ann@example.org", "bob@example.org"))
    async with fake([FakeReply(bad.status, text, bad.headers)]) as server:
        verdict = await verdict_of(provider.service(server.site), two)

    if isinstance(verdict, AllRefused):
        assert [one.address for one in verdict.refused] == ["ann@example.org", "bob@example.org"]
        assert verdict.refused[0].why.kind is Fault.PERMANENT_RECIPIENT
    else:  # the words do not say whose fault it is
        assert isinstance(verdict, Rejected)
        assert verdict.kind is Fault.PERMANENT_MESSAGE


CLOCK_WORDS = (
    ("RequestExpired", "no"),
    ("RequestTimeTooSkewed", "no"),
    (
        "SignatureDoesNotMatch",
        "Signature expired: 20260102T030405Z is now earlier than 20260102T050405Z (...)",
    ),
    ("InvalidSignatureException", "Signature not yet current: 20260102T030405Z is still later"),
)


@pytest.mark.parametrize(("name", "words"), CLOCK_WORDS)
async def test_a_clock_that_is_wrong_is_set_by_theirs_and_suspends_nothing(
    name: str, words: str
) -> None:
    expired = Refusal(
        403,
        {"__type": name, "message": words},
        Fault.ACCOUNT,
        headers={"date": "Fri, 02 Jan 2026 03:04:05 GMT"},
    ).reply
    async with fake([expired, SES.accepts]) as server:
        assert isinstance(await verdict_of(SES.service(server.site), mail()), Accepted)
    async with fake([expired]) as other:
        assert (await rejected(SES.service(other.site), mail())).kind is Fault.RATE_LIMITED

    assert len(server.requests) == len(other.requests) == 2
    assert server.requests[1].headers["x-amz-date"].startswith("20260102T0304")


async def test_a_fault_that_passes_is_waited_for_as_long_as_asked() -> None:
    busy = FakeReply(503, b"", {"retry-after": "77"})
    async with fake([busy]) as server:
        verdict = await rejected(SENDGRID.service(server.site), mail())

    assert (verdict.kind, verdict.retry_after) == (Fault.TRANSIENT, timedelta(seconds=77))


def test_waits_are_read_as_seconds_and_as_dates() -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def wait(text: str) -> timedelta | None:
        return retry_after_of(HttpResponse(429, {"retry-after": text}, b""), now=now)

    assert wait("30") == timedelta(seconds=30)
    assert wait("Fri, 02 Jan 2026 03:05:05 GMT") == timedelta(seconds=60)
    assert wait("Fri, 02 Jan 2026 03:00:00 GMT") == timedelta(seconds=1)
    assert wait("99999999") == timedelta(hours=24)
    assert wait("0") == timedelta(seconds=1)
    for text in ("", "soon", "-5", "1.5"):
        assert wait(text) is None
