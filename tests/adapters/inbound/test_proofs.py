"""Signatures: published examples verify, and every changed byte is refused."""

import base64
from dataclasses import replace
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mailqueue.adapters.inbound.mailgun import MailgunEvents
from mailqueue.adapters.inbound.postmark import PostmarkEvents
from mailqueue.adapters.inbound.resend import ResendEvents
from mailqueue.adapters.inbound.sendgrid import SendGridEvents
from mailqueue.adapters.inbound.smtp2go import Smtp2goEvents
from mailqueue.ports.inbound import (
    InboundProvider,
    InboundRequest,
    NotVerified,
    VerificationSecrets,
    Verified,
)
from tests.adapters.inbound.signed_requests import (
    MAILGUN_KEY,
    NOW,
    SECONDS,
    SENDGRID_PUBLIC,
    SVIX_SECRET,
    knowing,
    of_mailgun,
    of_sendgrid,
    of_svix,
    request,
)

pytestmark = pytest.mark.anyio

SIGNATURE = "x-twilio-email-event-webhook-signature"
PUBLISHED_SENDGRID = (
    b'[{"email":"rcpt@example.com","timestamp":1767323045,"event":"delivered",'
    b'"sg_event_id":"ZXZ0LTAwMDE","sg_message_id":"msg-0001.filter0001.1.AAAA.0",'
    b'"response":"250 OK"}]\r\n'
)
PUBLISHED_SVIX = (
    b'{"type":"email.bounced","created_at":"2026-01-02T03:04:05.000Z","data":{"email_id":'
    b'"11111111-2222-3333-4444-555555555555","to":["rcpt@example.com"]}}'
)


async def verdict(
    provider: InboundProvider, told: InboundRequest, secrets: VerificationSecrets, **late: float
) -> Verified | NotVerified:
    return await provider.verify(told, secrets, NOW + timedelta(**late))


def with_header(told: InboundRequest, name: str, value: str) -> InboundRequest:
    return replace(told, headers={**told.headers, name: value})


async def test_the_published_answer_of_sendgrid_is_right() -> None:
    told = request(
        PUBLISHED_SENDGRID,
        x_twilio_email_event_webhook_timestamp=SECONDS,
        x_twilio_email_event_webhook_signature=(
            "MEYCIQDSYze/D3yBrIGJQOWu+Z1UOR/t/D6vQiWZhf9rPREVNAIhAPWsNMQBiWPqVUA9EVtGw3G6BtAP"
            "7U7kyU0TliPeUk4Q"
        ),
    )

    assert isinstance(await verdict(SendGridEvents(), told, knowing(SENDGRID_PUBLIC)), Verified)
    for other in (PUBLISHED_SENDGRID[:-2], PUBLISHED_SENDGRID + b" ", b""):
        changed = replace(told, body=other)
        assert isinstance(
            await verdict(SendGridEvents(), changed, knowing(SENDGRID_PUBLIC)), NotVerified
        )


async def test_the_published_answer_of_svix_is_right() -> None:
    told = request(
        PUBLISHED_SVIX,
        svix_id="msg_svix_0001",
        svix_timestamp=SECONDS,
        svix_signature="v1,ZvG0yhhik7HAZuiCn2WZBsP6VankqJu3YJyc7AWPi8w=",
    )

    assert await verdict(ResendEvents(), told, knowing(SVIX_SECRET)) == Verified("msg_svix_0001")


async def test_the_published_answer_of_mailgun_is_right() -> None:
    token = "0123456789abcdef0123456789abcdef0123456789abcdef01"
    signature = "344e5cc2716714e33ae83595476025673de1f6988c4a618185dee794b3f47008"
    signed = {"timestamp": SECONDS, "token": token, "signature": signature}

    told = request({"signature": signed, "event-data": {"event": "opened"}})

    assert await verdict(MailgunEvents(), told, knowing(MAILGUN_KEY)) == Verified(token)


async def test_no_byte_of_a_signature_can_be_changed() -> None:
    sendgrid, svix = of_sendgrid(b"[]"), of_svix(b"{}")
    der = base64.b64decode(sendgrid.headers[SIGNATURE])
    mac = base64.b64decode(svix.headers["svix-signature"][3:])
    for at in range(len(der)):
        forged = bytearray(der)
        forged[at] ^= 1
        other = with_header(sendgrid, SIGNATURE, base64.b64encode(bytes(forged)).decode())
        assert isinstance(
            await verdict(SendGridEvents(), other, knowing(SENDGRID_PUBLIC)), NotVerified
        ), at
    for at in range(len(mac)):
        forged = bytearray(mac)
        forged[at] ^= 1
        written = f"v1,{base64.b64encode(bytes(forged)).decode()}"
        other = with_header(svix, "svix-signature", written)
        assert isinstance(
            await verdict(ResendEvents(), other, knowing(SVIX_SECRET)), NotVerified
        ), at


async def test_no_letter_of_what_mailgun_signs_can_be_changed() -> None:
    told = of_mailgun({"event": "opened"})
    body = told.body
    start, end = body.index(b'"timestamp"'), body.index(b'}, "event-data"')
    refused = 0
    for at in range(start, end):
        if body[at : at + 1].isalnum():
            other = b"1" if body[at : at + 1] != b"1" else b"2"
            changed = replace(told, body=body[:at] + other + body[at + 1 :])
            found = await verdict(MailgunEvents(), changed, knowing(MAILGUN_KEY))
            assert isinstance(found, NotVerified), body[:at][-20:]
            refused += 1
    assert refused > 130


async def test_a_truncated_or_missing_signature_proves_nothing() -> None:
    sendgrid, svix = of_sendgrid(b"[]"), of_svix(b"{}")
    whole = svix.headers["svix-signature"]
    for cut in ("", "v1,", "v1", whole[:-4], whole.replace("v1,", "v2,"), whole[3:], "v1a" + whole):
        other = with_header(svix, "svix-signature", cut)
        assert isinstance(
            await verdict(ResendEvents(), other, knowing(SVIX_SECRET)), NotVerified
        ), cut
    der = sendgrid.headers[SIGNATURE]
    for cut in ("", "AAAA", der[:-4], der + "AAAA", "é", "=" * 8):
        other = with_header(sendgrid, SIGNATURE, cut)
        assert isinstance(
            await verdict(SendGridEvents(), other, knowing(SENDGRID_PUBLIC)), NotVerified
        ), cut


async def test_one_of_several_signatures_and_of_several_secrets_is_enough() -> None:
    svix = of_svix(b"{}")
    several = with_header(
        svix, "svix-signature", f"v1,AAAA v1a,xx {svix.headers['svix-signature']}"
    )

    assert isinstance(
        await verdict(ResendEvents(), several, knowing("whsec_AAAA", SVIX_SECRET)), Verified
    )
    assert isinstance(await verdict(ResendEvents(), several, knowing("whsec_AAAA")), NotVerified)


async def test_the_names_of_the_standard_are_known_too() -> None:
    svix = of_svix(b"{}")
    renamed = {name.replace("svix", "webhook"): value for name, value in svix.headers.items()}

    assert isinstance(
        await verdict(ResendEvents(), replace(svix, headers=renamed), knowing(SVIX_SECRET)),
        Verified,
    )


@pytest.mark.parametrize(
    ("provider", "told", "secret", "good", "bad"),
    [
        (ResendEvents(), of_svix(b"{}"), SVIX_SECRET, (299, -299), (301, -301)),
        (SendGridEvents(), of_sendgrid(b"[]"), SENDGRID_PUBLIC, (89_000, -299), (90_001, -301)),
        (MailgunEvents(), of_mailgun({}), MAILGUN_KEY, (32_000, -299), (32_401, -301)),
    ],
    ids=["resend", "sendgrid", "mailgun"],
)
async def test_what_is_too_old_or_of_the_future_is_refused(
    provider: InboundProvider, told: InboundRequest, secret: str, good: list[int], bad: list[int]
) -> None:
    for late in good:
        assert isinstance(await verdict(provider, told, knowing(secret), seconds=late), Verified)
    for late in bad:
        assert isinstance(await verdict(provider, told, knowing(secret), seconds=late), NotVerified)


async def test_keys_of_another_kind_and_none_at_all_prove_nothing() -> None:
    other = ec.generate_private_key(ec.SECP384R1()).public_key()
    of_another_curve = base64.b64encode(
        other.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    ).decode()
    for keys in ((), ("",), ("not a key",), (of_another_curve,), (SENDGRID_PUBLIC[:-8],)):
        assert isinstance(
            await verdict(SendGridEvents(), of_sendgrid(b"[]"), knowing(*keys)), NotVerified
        )
        assert isinstance(
            await verdict(ResendEvents(), of_svix(b"{}"), knowing(*keys)), NotVerified
        )
        assert isinstance(
            await verdict(MailgunEvents(), of_mailgun({}), knowing(*keys)), NotVerified
        )


async def test_a_key_with_its_pem_lines_is_the_same_key() -> None:
    pem = f"-----BEGIN PUBLIC KEY-----\n{SENDGRID_PUBLIC}\n-----END PUBLIC KEY-----\n"

    assert isinstance(await verdict(SendGridEvents(), of_sendgrid(b"[]"), knowing(pem)), Verified)


@pytest.mark.parametrize(
    "provider", [PostmarkEvents(), Smtp2goEvents()], ids=["postmark", "smtp2go"]
)
async def test_a_password_or_secret_is_asked_of_those_who_sign_nothing(
    provider: InboundProvider,
) -> None:
    right = f"Basic {base64.b64encode(b'mq:s3cret').decode()}"
    wrong = f"Basic {base64.b64encode(b'mq:s3creT').decode()}"
    by_password = VerificationSecrets(user="mq", password="s3cret")
    both = VerificationSecrets(signing=("long",), user="mq", password="s3cret")

    async def hears(secrets: VerificationSecrets, **headers: str) -> bool:
        told = request({"event": "x", "RecordType": "Open"}, **headers)
        return isinstance(await verdict(provider, told, secrets), Verified)

    assert await hears(by_password, authorization=right)
    assert not await hears(by_password, authorization=wrong)
    assert not await hears(by_password, authorization=right.replace("Basic", "Bearer"))
    assert not await hears(by_password)
    assert not await hears(both, authorization=right)
    assert await hears(both, authorization=right, x_mailqueue_secret="long")
    assert await hears(knowing("old", "long"), x_mailqueue_secret="long")
    assert await hears(knowing("long", settings={"header": "X-Mine"}), x_mine="long")
    assert not await hears(
        knowing("long", settings={"header": "X-Mine"}), x_mailqueue_secret="long"
    )
    assert not await hears(VerificationSecrets())


async def test_a_secret_in_the_query_of_the_url_is_one_too() -> None:
    told = replace(request({"event": "open"}), query={"secret": "long"})

    assert isinstance(await verdict(Smtp2goEvents(), told, knowing("long")), Verified)
    assert isinstance(await verdict(Smtp2goEvents(), told, knowing("longer")), NotVerified)
