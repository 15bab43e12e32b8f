"""A mail beyond a provider's limits is refused before anything is sent, naming the limit."""

import pytest

from mailqueue.adapters.sending.mailgun import Mailgun
from mailqueue.core.verdict import Accepted, Fault, Stage
from mailqueue.ports.transport import Envelope, SendAttempt
from tests.adapters.sending.documented import DocumentedProvider
from tests.adapters.sending.fake import fake
from tests.adapters.sending.mails import ID, mail, rejected, verdict_of, with_files
from tests.adapters.sending.providers import (
    GMAIL,
    MAILGUN,
    POSTMARK,
    RESEND,
    SENDGRID,
    SES,
    SMTP2GO,
)

pytestmark = [pytest.mark.anyio]
MEGABYTE = 1024 * 1024


def to_many(count: int) -> SendAttempt:
    return mail(*(f"n{number}@example.org" for number in range(count)), to=["n0@example.org"])


async def refusal(provider: DocumentedProvider, one: SendAttempt) -> str:
    """Return why a mail is refused; nothing may have been sent."""
    async with fake([provider.accepts]) as server:
        verdict = await rejected(provider.service(server.site), one)

    assert server.requests == []
    assert (verdict.kind, verdict.stage) == (Fault.PERMANENT_MESSAGE, Stage.CONNECT)
    return verdict.detail


@pytest.mark.parametrize(
    ("provider", "most"), [(SES, 40), (SENDGRID, 30), (MAILGUN, 25), (POSTMARK, 10), (RESEND, 40)]
)
async def test_a_mail_that_is_too_large_is_refused_with_the_limit(
    provider: DocumentedProvider, most: int
) -> None:
    why = await refusal(provider, with_files(extra_octets=most * MEGABYTE))

    assert f"at most {most} MiB" in why


async def test_gmail_names_its_limit_in_bytes() -> None:
    assert "36700160 bytes" in await refusal(GMAIL, with_files(extra_octets=36 * MEGABYTE))


@pytest.mark.parametrize(
    ("provider", "most"),
    [(SES, 50), (SENDGRID, 1000), (MAILGUN, 1000), (POSTMARK, 50), (RESEND, 50), (GMAIL, 100)],
)
async def test_too_many_recipients_are_refused_with_the_limit(
    provider: DocumentedProvider, most: int
) -> None:
    assert f"at most {most} recipients" in await refusal(provider, to_many(most + 1))


async def test_too_many_in_one_field_are_refused_with_the_limit() -> None:
    assert "at most 100 in bcc" in await refusal(SMTP2GO, to_many(102))


@pytest.mark.parametrize("provider", [SES, MAILGUN, POSTMARK, RESEND])
async def test_an_address_beyond_ascii_is_refused_where_it_would_be_garbled(
    provider: DocumentedProvider,
) -> None:
    assert "käthe@example.org" in await refusal(provider, mail(to=["käthe@example.org"]))


async def test_sendgrid_takes_no_sender_beyond_ascii() -> None:
    assert "zoë@example.com" in await refusal(SENDGRID, mail(sender="zoë@example.com"))


@pytest.mark.parametrize("header", ["X-SG-ID", "x-sg-eid"])
async def test_a_header_the_provider_forbids_is_refused_by_name(header: str) -> None:
    assert header in await refusal(SENDGRID, mail(headers=[(header, "1")]))


@pytest.mark.parametrize(("provider", "most"), [(SENDGRID, 10), (MAILGUN, 3), (POSTMARK, 1)])
async def test_too_many_tags_are_refused_with_the_limit(
    provider: DocumentedProvider, most: int
) -> None:
    tags = tuple(f"t{number}" for number in range(most + 1))

    assert f"at most {most} tags" in await refusal(provider, mail(tags=tags))


@pytest.mark.parametrize("provider", [SENDGRID, SMTP2GO])
async def test_a_mail_without_a_text_is_refused(provider: DocumentedProvider) -> None:
    empty = SendAttempt(
        ID,
        Envelope("shop@example.com", ("ann@example.org",)),
        b"From: shop@example.com\r\nTo: ann@example.org\r\nSubject: x\r\n\r\n",
    )

    assert "without a text" in await refusal(provider, empty)


async def test_an_accounts_own_limits_win() -> None:
    async with fake([POSTMARK.accepts]) as server:
        narrow = POSTMARK.service(server.site, max_recipients=1, max_bytes=500)
        wide = POSTMARK.service(server.site, max_tags=2)

        for one in (to_many(2), with_files()):
            assert (await rejected(narrow, one)).kind is Fault.PERMANENT_MESSAGE
        assert server.requests == []
        assert isinstance(await verdict_of(wide, mail(tags=("a", "b"))), Accepted)


async def test_mailguns_options_have_a_bound_together() -> None:
    async with fake([MAILGUN.accepts]) as server:
        service = MAILGUN.service(server.site, extra={"v:notes": "x" * 16_384})
        assert isinstance(service, Mailgun)
        verdict = await rejected(service, mail())

    assert "16384 bytes" in verdict.detail
    assert server.requests == []


async def test_resend_gets_no_file_whose_name_says_another_kind_than_it_is() -> None:
    one = with_files()
    misnamed = one._replace(message=one.message.replace(b"logo.png", b"logo.jpg"))

    assert "logo.jpg" in await refusal(RESEND, misnamed)
