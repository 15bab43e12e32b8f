"""Mail to blind copies only, by providers that require a To recipient: each gets a copy."""

from typing import Any

import pytest

from mailqueue.core.verdict import Accepted, AllRefused, Fault, Rejected, Verdict
from mailqueue.ports.transport import Envelope, SendAttempt
from tests.adapters.sending.documented import DocumentedProvider
from tests.adapters.sending.fake import CLOSES, Fake, fake, says
from tests.adapters.sending.mails import ID, channel_of, mail, sent, with_files
from tests.adapters.sending.providers import POSTMARK, RESEND, SENDGRID, SMTP2GO

pytestmark = [pytest.mark.anyio]
PEOPLE = ("eve@example.org", "bob@example.org", "kim@example.org")
NO = {"errors": [{"message": "Bad address", "field": "personalizations.0.to.0.email"}]}


def blind(*people: str) -> SendAttempt:
    return mail(*(people or PEOPLE), to=["ann@example.org"])


async def verdict_of(provider: DocumentedProvider, server: Fake, one: SendAttempt) -> Verdict:
    async with channel_of(provider.service(server.site)) as channel:
        [verdict] = await sent(channel, [one])
    return verdict


@pytest.mark.parametrize("provider", [SENDGRID, SMTP2GO])
async def test_each_gets_a_call_of_their_own(provider: DocumentedProvider) -> None:
    async with fake([provider.accepts]) as server:
        verdict = await verdict_of(provider, server, blind())

    assert isinstance(verdict, Accepted)
    assert verdict.refused == ()
    assert len(server.requests) == len(PEOPLE)
    for request, address in zip(server.requests, PEOPLE, strict=True):
        provider.check(request)
        assert address.encode() in request.body
        assert not any(one.encode() in request.body for one in PEOPLE if one != address)


@pytest.mark.parametrize("provider", [POSTMARK, RESEND])
async def test_they_share_a_call_where_several_mails_do(provider: DocumentedProvider) -> None:
    taken = {
        "postmark": [{"MessageID": f"id{n}", "ErrorCode": 0, "Message": "OK"} for n in range(3)],
        "resend": {"data": [{"id": f"id{n}"} for n in range(3)]},
    }[provider.name]
    async with fake([says(200, taken)]) as server:
        verdict = await verdict_of(provider, server, blind())

    assert isinstance(verdict, Accepted)
    assert verdict.provider_message_id == "id0"
    [request] = server.requests
    provider.check(request)
    assert [one.get("To") or one["to"][0] for one in request.json] == list(PEOPLE)
    assert all(not one.get("bcc") and not one.get("Bcc") for one in request.json)


async def test_with_files_resend_knows_each_copy_by_a_key_of_its_own() -> None:
    one = with_files()
    copied = one._replace(envelope=one.envelope._replace(recipients=PEOPLE))
    async with fake([RESEND.accepts]) as server:
        first = await verdict_of(RESEND, server, copied)
        keys = [request.headers["idempotency-key"] for request in server.requests]
        again = await verdict_of(RESEND, server, copied)

    assert isinstance(first, Accepted)
    assert isinstance(again, Accepted)
    assert len(set(keys)) == 3
    assert [request.headers["idempotency-key"] for request in server.requests] == keys * 2


ID_FIELD = b"Message-ID: <a@example.com>\r\n"


def handed_in(head: bytes, *recipients: str) -> SendAttempt:
    """Return a mail of another program, which wrote its header fields itself."""
    message = (
        b"From: shop@example.com\r\n" + head + b"Subject: Hi\r\n" + ID_FIELD + b"\r\nHello\r\n"
    )
    return SendAttempt(ID, Envelope("shop@example.com", recipients), message, "orders")


FIELD_PROVIDERS = pytest.mark.parametrize("provider", [SENDGRID, POSTMARK, RESEND, SMTP2GO])


@FIELD_PROVIDERS
@pytest.mark.parametrize(
    ("head", "recipients"),
    [
        (b"To: Eve@Example.org, BOB@EXAMPLE.NET\r\n", ("eve@example.org", "bob@example.net")),
        (b"To: eve@example.org, bob@example.net\r\n", ("Eve@example.org", "Bob@example.net")),
        ("To: eve@bücher.example\r\n".encode(), ("eve@xn--bcher-kva.example",)),
    ],
)
async def test_recipients_are_found_in_the_header_whatever_their_letter_case(
    provider: DocumentedProvider, head: bytes, recipients: tuple[str, ...]
) -> None:
    async with fake([provider.accepts]) as server:
        verdict = await verdict_of(provider, server, handed_in(head, *recipients))

    assert isinstance(verdict, Accepted)
    [request] = server.requests  # one for all: each may see the others, as the header does
    provider.check(request)
    to = request.json.get("personalizations", [request.json])[0]
    shown = str(to.get("to") or to.get("To"))
    assert [one in shown for one in recipients] == [True] * len(recipients)
    assert "bcc" not in {name.lower() for name in to}


@FIELD_PROVIDERS
@pytest.mark.parametrize(
    "head",
    [
        b"To: undisclosed-recipients:;\r\n",
        b"To: The list <news@lists.example.com>\r\n",
        b"To: undisclosed-recipients:;\r\nCc: recipient list not shown:;\r\n",
        b"",
    ],
)
async def test_where_no_header_names_them_each_gets_a_mail_that_names_no_other(
    provider: DocumentedProvider, head: bytes
) -> None:
    answers: dict[str, Any] = {
        "postmark": [{"MessageID": f"id{n}", "ErrorCode": 0, "Message": "OK"} for n in range(3)],
        "resend": {"data": [{"id": f"id{n}"} for n in range(3)]},
    }
    said = answers.get(provider.name)
    reply = provider.accepts if said is None else says(200, said)
    async with fake([reply]) as server:
        verdict = await verdict_of(provider, server, handed_in(head, *PEOPLE))

    assert isinstance(verdict, Accepted)
    assert verdict.refused == ()
    mails = [
        one
        for request in server.requests
        for one in (request.json if isinstance(request.json, list) else [request.json])
    ]
    assert [[one in str(each) for one in PEOPLE] for each in mails] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


async def test_copies_differ_in_key_although_a_display_name_holds_the_addresses() -> None:
    files = with_files()
    head = b'To: "eve@example.org bob@example.org" <news@lists.example.com>\r\n'
    message = files.message.replace(b"To: Ann <ann@example.org>\r\n", head)
    assert head in message
    one = files._replace(message=message, envelope=files.envelope._replace(recipients=PEOPLE[:2]))
    async with fake([RESEND.accepts]) as server:
        await verdict_of(RESEND, server, one)

    assert len({request.headers["idempotency-key"] for request in server.requests}) == 2


async def test_who_is_refused_is_named_and_the_others_have_it() -> None:
    async with fake([SENDGRID.accepts, says(400, NO), SENDGRID.accepts]) as server:
        verdict = await verdict_of(SENDGRID, server, blind())

    assert isinstance(verdict, Accepted)
    [refused] = verdict.refused
    assert (refused.address, refused.why.kind) == (PEOPLE[1], Fault.PERMANENT_RECIPIENT)


async def test_too_fast_in_between_is_asked_again_for_those_who_are_left() -> None:
    async with fake([SENDGRID.accepts, says(429, {}, retry_after="7")]) as server:
        verdict = await verdict_of(SENDGRID, server, blind())

    assert isinstance(verdict, Accepted)
    assert [one.address for one in verdict.refused] == list(PEOPLE[1:])
    assert {one.why.kind for one in verdict.refused} == {Fault.RATE_LIMITED}
    assert len(server.requests) == 2


async def test_a_copy_of_unknown_fate_is_not_sent_again_beside_others_that_were_taken() -> None:
    async with fake([SENDGRID.accepts, CLOSES]) as server:
        verdict = await verdict_of(SENDGRID, server, blind())

    assert isinstance(verdict, Accepted)
    doubtful, unsent = verdict.refused
    assert (doubtful.address, doubtful.why.kind) == (PEOPLE[1], Fault.PERMANENT_MESSAGE)
    assert "it is unknown whether it was accepted" in doubtful.why.detail
    assert (unsent.address, unsent.why.kind) == (PEOPLE[2], Fault.TRANSIENT)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (says(401, {"errors": [{"message": "no"}]}), Fault.ACCOUNT),
        (says(429, {}), Fault.RATE_LIMITED),
        (CLOSES, Fault.AMBIGUOUS),
        (says(413, {"errors": [{"message": "large"}]}), Fault.PERMANENT_MESSAGE),
    ],
)
async def test_what_is_said_to_all_is_said_of_the_mail(reply: Any, kind: Fault) -> None:
    async with fake([reply]) as server:
        verdict = await verdict_of(SENDGRID, server, blind())

    assert isinstance(verdict, Rejected)
    assert verdict.kind is kind


async def test_a_different_refusal_of_each_is_each_ones() -> None:
    large = says(413, {"errors": [{"message": "large"}]})
    async with fake([large, says(400, NO), large]) as server:
        verdict = await verdict_of(SENDGRID, server, blind())

    assert isinstance(verdict, AllRefused)
    assert [one.why.kind for one in verdict.refused] == [
        Fault.PERMANENT_MESSAGE,
        Fault.PERMANENT_RECIPIENT,
        Fault.PERMANENT_MESSAGE,
    ]
