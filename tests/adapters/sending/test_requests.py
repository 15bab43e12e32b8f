"""The bytes of requests, where a provider's documentation specifies them."""

import base64
from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from mailqueue.core.verdict import Fault, Rejected
from mailqueue.ports.transport import Envelope, SendAttempt
from tests.adapters.sending.documented import DocumentedProvider
from tests.adapters.sending.fake import Request, fake
from tests.adapters.sending.mails import (
    ID,
    MESSAGE_ID,
    mail,
    verdict_of,
    with_files,
)
from tests.adapters.sending.providers import (
    GMAIL,
    MAILGUN,
    POSTMARK,
    PROVIDERS,
    RESEND,
    SENDGRID,
    SES,
    SMTP2GO,
)
from tests.adapters.sending.strict import form_of

pytestmark = [pytest.mark.anyio]

FULL = mail(
    "ann@example.org",
    "bob@example.org",
    "eve@example.org",
    cc=["Bob <bob@example.org>"],
    reply_to=["desk@example.com"],
    headers=[("X-Order", "81 ü")],
)


async def request_of(provider: DocumentedProvider, one: SendAttempt, **settings: Any) -> Request:
    async with fake([provider.accepts]) as server:
        await verdict_of(provider.service(server.site, **settings), one)
    [request] = server.requests
    return request


async def test_ses_takes_the_message_as_it_is_and_every_recipient_by_name() -> None:
    request = await request_of(SES, FULL, configuration_set="events", region="eu-west-1")

    assert request.body == orjson.dumps(
        {
            "FromEmailAddress": "shop@example.com",
            "Destination": {
                "ToAddresses": ["ann@example.org"],
                "CcAddresses": ["bob@example.org"],
                "BccAddresses": ["eve@example.org"],
            },
            "Content": {"Raw": {"Data": base64.b64encode(FULL.message).decode()}},
            "EmailTags": [
                {"Name": "mailqueue_id", "Value": str(ID)},
                {"Name": "category", "Value": "transactional"},
            ],
            "ConfigurationSetName": "events",
        }
    )
    assert "/eu-west-1/ses/aws4_request" in request.headers["authorization"]


async def test_ses_forwards_bounces_to_the_envelopes_sender_and_names_the_from_address() -> None:
    envelope = Envelope("bounces@example.com", FULL.envelope.recipients)
    request = await request_of(SES, FULL._replace(envelope=envelope))

    assert request.json["FromEmailAddress"] == "shop@example.com"
    assert request.json["FeedbackForwardingEmailAddress"] == "bounces@example.com"


@pytest.mark.parametrize(
    ("provider", "names"),
    [
        (MAILGUN, ("to", "cc", "bcc", "html", "recipient-variables")),
        (POSTMARK, ("To", "Cc", "bcc", "ReplyTo", "HtmlBody", "Headers", "Attachments")),
        (RESEND, ("to", "cc", "bcc", "reply_to", "html", "attachments")),
        (SENDGRID, ("personalizations", "reply_to", "reply_to_list", "headers", "attachments")),
        (SMTP2GO, ("to", "cc", "bcc", "html_body", "attachments", "inlines")),
    ],
)
async def test_an_account_adds_no_recipients_and_no_content_to_its_mail(
    provider: DocumentedProvider, names: Sequence[str]
) -> None:
    extra = dict.fromkeys(names, "eve@example.net")
    request = await request_of(provider, mail(html=None), extra=extra)

    assert b"eve@example.net" not in request.body


async def test_sendgrid_gets_fields_in_the_documented_shape() -> None:
    request = await request_of(SENDGRID, FULL)

    assert request.body == orjson.dumps(
        {
            "personalizations": [
                {
                    "to": [{"email": "ann@example.org", "name": '"Ann, A."'}],
                    "cc": [{"email": "bob@example.org", "name": "Bob"}],
                    "bcc": [{"email": "eve@example.org"}],
                    "custom_args": {"mailqueue_id": str(ID), "category": "transactional"},
                }
            ],
            "from": {"email": "shop@example.com", "name": "Shop"},
            "subject": "Grüße",
            "content": [
                {"type": "text/plain", "value": "Hallo\n"},
                {"type": "text/html", "value": "<p>Hallo</p>\n"},
            ],
            "reply_to": {"email": "desk@example.com"},
            "headers": {"X-Order": "81 ü"},
            "categories": ["transactional"],
        }
    )


async def test_sendgrid_speaks_for_a_subuser_and_takes_further_fields() -> None:
    extra = {"asm": {"group_id": 5}, "subject": "not this one"}
    request = await request_of(SENDGRID, FULL, subuser="shop", extra=extra)

    assert request.headers["on-behalf-of"] == "shop"
    assert request.json["asm"] == {"group_id": 5}
    assert request.json["subject"] == "Grüße"


async def test_mailgun_gets_a_form_with_the_message_as_its_file() -> None:
    request = await request_of(MAILGUN, FULL, extra={"o:tracking": "no"})

    assert form_of(request) == [
        ("to", b"ann@example.org"),
        ("to", b"bob@example.org"),
        ("to", b"eve@example.org"),
        ("o:tracking", b"no"),
        ("o:tag", b"transactional"),
        ("v:mailqueue_id", str(ID).encode()),
        ("v:category", b"transactional"),
        ("message", FULL.message),
    ]
    boundary = request.headers["content-type"].partition("boundary=")[2]
    assert request.body.startswith(
        f'--{boundary}\r\nContent-Disposition: form-data; name="to"\r\n\r\n'.encode()
        + b"ann@example.org\r\n"
    )
    assert request.body.endswith(FULL.message + f"\r\n--{boundary}--\r\n".encode())


async def test_postmark_gets_fields_in_the_documented_shape() -> None:
    request = await request_of(POSTMARK, FULL, message_stream="outbound")

    assert request.path == "/email"
    assert request.body == orjson.dumps(
        {
            "From": '"Shop" <shop@example.com>',
            "To": '"Ann, A." <ann@example.org>',
            "Subject": "Grüße",
            "Metadata": {"mailqueue_id": str(ID), "category": "transactional"},
            "Cc": '"Bob" <bob@example.org>',
            "Bcc": "eve@example.org",
            "ReplyTo": "desk@example.com",
            "TextBody": "Hallo\n",
            "HtmlBody": "<p>Hallo</p>\n",
            "Tag": "transactional",
            "MessageStream": "outbound",
            "Headers": [
                {"Name": "X-Order", "Value": "81 ü"},
                {"Name": "Message-ID", "Value": MESSAGE_ID},
                {"Name": "X-PM-KeepID", "Value": "true"},
            ],
        }
    )


async def test_resend_gets_fields_and_a_key_that_names_the_mail() -> None:
    request = await request_of(RESEND, FULL)

    assert request.headers["idempotency-key"] == f"mailqueue/{ID}"
    assert request.body == orjson.dumps(
        {
            "from": '"Shop" <shop@example.com>',
            "to": ['"Ann, A." <ann@example.org>'],
            "subject": "Grüße",
            "cc": ['"Bob" <bob@example.org>'],
            "bcc": ["eve@example.org"],
            "reply_to": ["desk@example.com"],
            "html": "<p>Hallo</p>\n",
            "text": "Hallo\n",
            "headers": {"X-Order": "81 ü", "Message-ID": MESSAGE_ID},
            "tags": [
                {"name": "mailqueue_id", "value": str(ID)},
                {"name": "category", "value": "transactional"},
            ],
        }
    )


async def test_smtp2go_gets_fields_in_the_documented_shape() -> None:
    request = await request_of(SMTP2GO, FULL, keep_message_id=False, extra={"fastaccept": True})

    assert request.body == orjson.dumps(
        {
            "fastaccept": True,
            "sender": '"Shop" <shop@example.com>',
            "to": ['"Ann, A." <ann@example.org>'],
            "subject": "Grüße",
            "cc": ['"Bob" <bob@example.org>'],
            "bcc": ["eve@example.org"],
            "text_body": "Hallo\n",
            "html_body": "<p>Hallo</p>\n",
            "custom_headers": [
                {"header": "X-Order", "value": "81 ü"},
                {"header": "X-Mailqueue-Id", "value": str(ID)},
                {"header": "X-Mailqueue-Tag", "value": "transactional"},
                {"header": "Reply-To", "value": "desk@example.com"},
            ],
        }
    )


@pytest.mark.parametrize(
    ("provider", "field", "wanted"),
    [
        (SES, "EmailTags", {"Name": "tag1", "Value": "spring_sale"}),
        (SENDGRID, "categories", "spring sale"),
        (POSTMARK, "Tag", "spring sale"),
        (RESEND, "tags", {"name": "tag1", "value": "spring_sale"}),
        (SMTP2GO, "custom_headers", {"header": "X-Mailqueue-Tag", "value": "spring sale"}),
    ],
)
async def test_tags_go_where_the_provider_counts_by_them(
    provider: DocumentedProvider, field: str, wanted: object
) -> None:
    request = await request_of(provider, mail(tags=("spring sale",)))

    assert wanted in request.json[field]
    provider.check(request)


async def test_gmail_gets_the_message_with_its_blind_copies_named() -> None:
    request = await request_of(GMAIL, FULL)

    message = base64.urlsafe_b64decode(request.json["raw"])
    assert b"\r\nBcc: eve@example.org\r\n" in message
    assert b"\r\nCc: Bob <bob@example.org>\r\n" in message
    assert message.partition(b"\r\n\r\n")[2] == FULL.message.partition(b"\r\n\r\n")[2]


async def test_gmail_names_only_recipients_of_the_envelope() -> None:
    stopped = mail("ann@example.org", to=["ann@example.org", "gone@example.org"])

    message = base64.urlsafe_b64decode((await request_of(GMAIL, stopped)).json["raw"])

    assert b"gone@example.org" not in message
    assert b"To: ann@example.org\r\n" in message


async def test_gmail_leaves_a_message_alone_whose_headers_say_it_all() -> None:
    one = mail(cc=["bob@example.org"])

    assert base64.urlsafe_b64decode((await request_of(GMAIL, one)).json["raw"]) == one.message


async def test_gmail_takes_a_large_message_as_it_is() -> None:
    large = with_files(extra_octets=5 * 1024 * 1024)
    request = await request_of(GMAIL, large)

    assert request.path == "/upload/gmail/v1/users/me/messages/send?uploadType=media"
    assert request.body == large.message


@pytest.mark.parametrize("provider", [SENDGRID, POSTMARK, RESEND, SMTP2GO])
async def test_only_those_still_to_get_it_are_named(provider: DocumentedProvider) -> None:
    stopped = mail("bob@example.org", to=["gone@example.org"], cc=["bob@example.org"])

    request = await request_of(provider, stopped)

    assert b"gone@example.org" not in request.body
    to = request.json.get("personalizations", [request.json])[0]
    assert "bob@example.org" in str(to.get("to") or to.get("To"))


@pytest.mark.parametrize("provider", PROVIDERS, ids=[one.name for one in PROVIDERS])
async def test_the_path_of_a_proxy_in_front_is_kept(provider: DocumentedProvider) -> None:
    async with fake([provider.accepts]) as server:
        site = type(server.site)("http", "127.0.0.1", server.port, "/through")
        verdict = await verdict_of(provider.service(site), mail())

    assert not isinstance(verdict, Rejected) or verdict.kind is not Fault.ACCOUNT
    assert server.requests[0].path.startswith("/through/")
