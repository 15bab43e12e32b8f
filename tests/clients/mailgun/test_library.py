"""The published `mailgun` library, unmodified, sends through this API as through Mailgun."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
import requests
from mailgun.builders import MailgunMessageBuilder
from mailgun.client import AsyncClient, Client

from tests.clients.mailgun.mails import DOMAIN, HI, email_of, mails
from tests.clients.serving import PDF, Served

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452")


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


def test_the_first_example_of_the_library_with_its_files(site: Served, client: Client) -> None:
    data = {
        "from": "from@example.com",
        "to": "to@example.com",
        "cc": "cc@example.com",
        "subject": "Hello Vasyl Bodaj",
        "html": "<body>Hello!</body>",
        "o:tag": "Python test",
    }
    files = [("attachment", ("test1.txt", b"Test")), ("attachment", ("ü.txt", b"Test 2"))]

    response = client.messages.create(data=data, files=files, domain=DOMAIN)

    mail = email_of(site, response)
    assert mail["recipients"] == [["to", "to@example.com", None], ["cc", "cc@example.com", None]]
    assert (mail["subject"], mail["html"]) == ("Hello Vasyl Bodaj", "<body>Hello!</body>")
    assert mail["tags"] == ["Python test"]
    assert [one["name"] for one in mail["files"]] == ["test1.txt", "ü.txt"]
    assert response.json()["id"].endswith("@example.com>")


def test_the_id_is_the_message_id_that_is_sent(site: Served, client: Client) -> None:
    mail_id = client.messages.create(data=HI, domain=DOMAIN).json()["id"]

    email_id = UUID(mail_id[1:].partition("@")[0])
    source = requests.get(
        f"{site.url}/v1/emails/{email_id}/source",
        headers={"X-API-Key": site.keys.live},
        timeout=60,
    )
    assert f"Message-ID: {mail_id}" in source.text


def test_everything_that_can_be_said(site: Served, client: Client) -> None:
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=2)
    data = HI | {
        "to": ["Ann <ann@example.com>, bob@example.com", '"C, D" <cd@example.com>'],
        "bcc": "hidden@example.com",
        "html": "<img src='cid:logo.png'>",
        "o:tag": ["September newsletter", "newsletters"],
        "o:deliverytime": format_datetime(at),
        "o:tracking": False,
        "o:tracking-clicks": "no",
        "o:tracking-opens": "no",
        "o:dkim": "yes",
        "o:require-tls": False,
        "o:skip-verification": "no",
        "o:sending-ip-pool": "relay",
        "h:X-My-Header": "yes",
        "h:Reply-To": "Help <help@example.com>, b@example.com",
        "v:my-var": '{"my_message_id": 123}',
        "h:X-Mailgun-Variables": '{"other": [1, 2], "word": "x"}',
    }
    files = [
        ("inline", ("logo.png", PNG, "image/png")),
        ("attachment", ("bill.pdf", PDF, "application/pdf")),
    ]

    mail = email_of(site, client.messages.create(data=data, files=files, domain=DOMAIN))

    assert mail["recipients"] == [
        ["to", "ann@example.com", "Ann"],
        ["to", "bob@example.com", None],
        ["to", "cd@example.com", "C, D"],
        ["bcc", "hidden@example.com", None],
    ]
    assert (mail["from_email"], mail["from_name"]) == ("shop@example.com", "Shop")
    assert (mail["reply_to"], mail["headers"]) == (
        "Help <help@example.com>, b@example.com",
        {"X-My-Header": "yes"},
    )
    assert mail["tags"] == ["September newsletter", "newsletters"]
    assert mail["custom_data"] == {
        "user_variables": {"my-var": '{"my_message_id": 123}', "other": "[1,2]", "word": "x"}
    }
    assert datetime.fromisoformat(mail["run_at"]) == at
    assert mail["sender"] == "relay"
    assert [(one["name"], one.get("cid")) for one in mail["files"]] == [
        ("logo.png", "logo.png"),
        ("bill.pdf", None),
    ]


@pytest.mark.parametrize(
    ("options", "tracking_options"),
    [
        ({"o:tracking": "yes"}, 3),
        ({"o:tracking": "no"}, None),
        ({"o:tracking-opens": "true"}, 1),
        ({"o:tracking-clicks": "htmlonly"}, 2),
        ({"o:tracking": "yes", "o:tracking-clicks": "no"}, 1),
        ({"o:tracking-clicks": "no", "o:tracking": "yes"}, 1),
        ({"o:tracking-opens": "yes", "o:tracking": "no"}, None),
        ({"html": "<a href='%unsubscribe_url%'>no more</a>"}, 4),
    ],
)
def test_tracking_is_as_it_is_asked_for(
    site: Served, client: Client, options: dict[str, str], tracking_options: int | None
) -> None:
    answer = client.messages.create(data=HI | options, domain=DOMAIN).json()

    query = (
        "SELECT c.tracking_options FROM mailqueue.email_queue AS q"
        " JOIN mailqueue.email_contents AS c ON c.id = q.content_id WHERE q.id = %s"
    )
    assert site.rows(query, UUID(answer["id"][1:33])) == [(tracking_options,)]


def test_a_date_in_the_past_means_now_as_in_the_librarys_example(
    site: Served, client: Client
) -> None:
    data = HI | {"o:deliverytime": "Thu Jan 28 2021 14:00:03 EST"}

    mail = email_of(site, client.messages.create(data=data, domain=DOMAIN))

    assert datetime.fromisoformat(mail["run_at"]) <= datetime.now(UTC)


def test_recipient_variables_make_a_mail_for_each(site: Served, client: Client) -> None:
    tag = uuid4().hex[:8]
    ann, bob = f"ann-{tag}@example.com", f"Bob-{tag}@example.com"
    payload, files = (
        MailgunMessageBuilder("newsletter@example.com")
        .add_recipient(f"Ann <{ann}>")
        .add_recipient(bob)
        .add_recipient(f"ANN-{tag}@example.com")
        .set_subject("Hey %recipient.name%, your weekly update!")
        .set_text("Hi %recipient.name%, your id is %recipient.id%, %recipient%, %recipient.gone%.")
        .add_custom_variable("user", "%recipient.id%")
        .add_custom_header("X-For", "%recipient.name%")
        .set_recipient_variables(
            {ann: {"name": "Alice", "id": 101}, bob.lower(): {"name": "Bob", "id": True}}
        )
        .build()
    )

    response = client.messages.create(domain=DOMAIN, data=payload, files=files)

    first, second = mails(site, f"%-{tag}@example.com")
    assert (first["to"], first["name"]) == (ann, "Ann")
    assert first["subject"] == "Hey Alice, your weekly update!"
    assert first["text"] == f"Hi Alice, your id is 101, {ann}, %recipient.gone%."
    assert first["custom_data"] == {"user_variables": {"user": "101"}}
    assert first["headers"]["X-For"] == "Alice"
    assert (second["to"], second["recipients"]) == (bob, None)
    assert second["text"].startswith("Hi Bob, your id is true, ")
    assert email_of(site, response)["to"] == ann


def test_a_thousand_recipients_with_variables(site: Served, client: Client) -> None:
    tag = uuid4().hex[:8]
    to = [f"p{n}-{tag}@example.com" for n in range(1001)]
    data = HI | {"recipient-variables": json.dumps({one: {"n": one[1:3]} for one in to})}

    more = client.messages.create(data=data | {"to": to}, domain=DOMAIN)
    response = client.messages.create(data=data | {"to": ",".join(to[:1000])}, domain=DOMAIN)

    assert (more.status_code, more.json()["message"]) == (
        400,
        "'to' parameter: at most 1000 recipients",
    )
    assert response.status_code == 200
    assert (
        len(
            site.rows(
                "SELECT 1 FROM mailqueue.email_queue WHERE recipient_email LIKE %s",
                f"%-{tag}@example.com",
            )
        )
        == 1000
    )


def test_the_asynchronous_client_sends_too(site: Served) -> None:
    async def send() -> list[Any]:
        auth = ("api", site.keys.live)
        async with AsyncClient(auth=auth, api_url=site.url) as client:
            return [
                await client.messages.create(data=HI, domain=DOMAIN),
                await client.messages.create(
                    data=HI, files=[("attachment", ("bill.pdf", PDF))], domain=DOMAIN
                ),
                await client.messages.create(data=HI | {"to": "nobody"}, domain=DOMAIN),
            ]

    plain, filed, refused = asyncio.run(send())

    assert email_of(site, plain)["text"] == "Hello"
    assert email_of(site, filed)["files"][0]["type"] == "application/pdf"
    assert refused.status_code == 400


@pytest.fixture(scope="module")
def template(site: Served) -> str:
    site.add_template("promo-template", subject="Promo", html="<p>{{ code }} {{ user }}</p>")
    return "promo-template"


def test_a_template_has_its_variables(site: Served, client: Client, template: str) -> None:
    builder = (
        MailgunMessageBuilder("marketing@example.com")
        .add_recipient("ann@example.com")
        .set_template(template)
        .set_template_version("v1")
        .set_template_text(enable=True)
        .set_template_variables({"code": "SAVE20"})
        .add_custom_variable("user", "Ann")
    )
    payload, _ = builder.build()

    own = email_of(site, client.messages.create(data=payload, domain=DOMAIN))
    titled = email_of(
        site,
        client.messages.create(data=payload | {"subject": "Special Offer Inside!"}, domain=DOMAIN),
    )

    assert (own["template"], own["subject"]) == (True, "Promo")
    assert own["custom_data"] == {
        "user_variables": {"user": "Ann"},
        "variables": {"code": "SAVE20", "user": "Ann"},
    }
    assert (titled["subject"], titled["html"]) == ("Special Offer Inside!", "<p>SAVE20 Ann</p>")


def test_test_mode_goes_to_the_trap(site: Served, client: Client) -> None:
    mail = email_of(site, client.messages.create(data=HI | {"o:testmode": "yes"}, domain=DOMAIN))

    assert mail["sender"] == "trap"
