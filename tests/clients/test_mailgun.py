"""The published `mailgun` library, unmodified, sends and fails as it does with Mailgun."""

import asyncio
import inspect
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import requests
from mailgun.builders import MailgunMessageBuilder
from mailgun.client import AsyncClient, Client
from mailgun.config import Config
from mailgun.examples import builder_examples, messages_examples

from tests.clients.serving import PDF, Served
from tests.clients.test_docs import after, real, shown

DOMAIN = "example.com"
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452")
HI: dict[str, Any] = {
    "from": "Shop <shop@example.com>",
    "to": "ann@example.com",
    "subject": "Hello Vasyl Bodaj",
    "text": "Hello",
}
MIME = b"""From: Joe Example <joe@example.com>
To: John Doe <john.doe@example.com>, %s
Bcc: hidden@example.com
Subject: Joe's Example Subject
Message-ID: <%s@example.com>
Content-Type: text/plain; charset="ascii"

Testing some Mailgun MIME awesomeness!
"""


@pytest.fixture
def client(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


def email_of(site: Served, response: Any) -> dict[str, Any]:
    """Give the mail that an answer speaks of."""
    assert response.status_code == 200, response.text
    document = response.json()
    assert document["message"] == "Queued. Thank you."
    return site.email(UUID(document["id"][1:].partition("@")[0]))


def mails(site: Served, to: str) -> list[dict[str, Any]]:
    query = "SELECT id FROM mailqueue.email_queue WHERE recipient_email LIKE %s ORDER BY id"
    return [site.email(row[0]) for row in site.rows(query, to)]


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
    ("options", "dressing"),
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
    site: Served, client: Client, options: dict[str, str], dressing: int | None
) -> None:
    answer = client.messages.create(data=HI | options, domain=DOMAIN).json()

    query = (
        "SELECT c.dressing FROM mailqueue.email_queue AS q"
        " JOIN mailqueue.email_contents AS c ON c.id = q.content_id WHERE q.id = %s"
    )
    assert site.rows(query, UUID(answer["id"][1:33])) == [(dressing,)]


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


def test_a_test_key_sends_to_the_trap(site: Served) -> None:
    with Client(auth=("api", site.keys.test), api_url=site.url) as client:
        mail = email_of(site, client.messages.create(data=HI, domain=DOMAIN))
        mime = client.mimemessage.create(
            data={"to": "a@example.com"},
            files={"message": MIME % (b"x@y.example", b"t")},
            domain=DOMAIN,
        )

    assert mail["sender"] == "trap"
    assert mime.json()["id"] == "<t@example.com>"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"from": None}, "from parameter is missing"),
        ({"to": None}, "to parameter is missing"),
        ({"to": ""}, "to parameter is missing"),
        (
            {"from": "wrongFrom"},
            "'from' parameter is not a valid address. please check documentation",
        ),
        ({"to": "wrongTo"}, "'to' parameter is not a valid address. please check documentation"),
        (
            {"cc": "a@example.com, b"},
            "'cc' parameter is not a valid address. please check documentation",
        ),
        (
            {"text": None},
            "Need at least one of 'text', 'html', 'amp-html' or 'template' parameters specified",
        ),
        ({"recipient-variables": "no"}, "'recipient-variables' parameter is not a valid JSON"),
        ({"recipient-variables": "[]"}, "'recipient-variables' parameter is not a valid JSON"),
        (
            {"to": [f"p{n}@example.com" for n in range(51)]},
            "'to' parameter: one message may have 50",
        ),
        ({"subject": None}, "'subject' parameter: a subject is needed"),
        ({"subject": "a\nb"}, "'subject' parameter: "),
        ({"amp-html": "<html amp4email>"}, "'amp-html' parameter: is not supported"),
        ({"colour": "red"}, "'colour' parameter: is not supported"),
        ({"o:colour": "red"}, "'o:colour' parameter: is not supported"),
        ({"o:dkim": "no"}, "'o:dkim' parameter: is not supported"),
        ({"o:require-tls": "yes"}, "'o:require-tls' parameter: is not supported"),
        ({"o:tracking": "maybe"}, "'o:tracking' parameter: yes or no"),
        ({"o:deliverytime": "soon"}, "'o:deliverytime' parameter: a date as in RFC 2822"),
        ({"o:deliverytime": "Fri, 14 Oct 9999999 23:10:10 +0000"}, "'o:deliverytime' parameter: "),
        (
            {"o:deliverytime": format_datetime(datetime.now(UTC) + timedelta(days=4))},
            "'o:deliverytime' parameter: at most 3 days",
        ),
        ({"o:tag": [str(n) for n in range(11)]}, "'o:tag' parameter: at most 10"),
        ({"o:sending-ip-pool": "gone"}, "'o:sending-ip-pool' parameter: this project has no"),
        ({"h:To": "x@example.com"}, "'h:' parameter: To is set by mailqueue"),
        ({"h:X": ["a", "b"]}, "'h:X' parameter: may stand once"),
        ({"v:x": "x" * 17_000}, "'o:' parameter: with h:, v: and t: may have 16384 bytes"),
        ({"text": None, "template": "gone"}, "'template' parameter: there is no template"),
        ({"template": "gone"}, "'text' parameter: cannot be given together with template"),
        ({"t:variables": "{}"}, "'t:variables' parameter: without template"),
        ({"text": "%mailing_list_unsubscribe_url%"}, "'text' parameter: %mailing_list"),
        ({"attachment": "words"}, "'attachment' parameter: must be a file"),
        ({"text": "\0"}, "'text' parameter: a NUL character"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_refused_is_named_as_mailgun_names_it(
    client: Client, change: dict[str, Any], message: str
) -> None:
    data = {name: text for name, text in (HI | change).items() if text is not None}

    response = client.messages.create(data=data, domain=DOMAIN)

    assert (response.status_code, list(response.json())) == (400, ["message"])
    assert response.json()["message"].startswith(message)


def test_files_are_refused_by_the_rules_of_the_project(client: Client) -> None:
    def sent(field: str, *file: Any) -> str:
        response = client.messages.create(data=HI, files=[(field, file)], domain=DOMAIN)
        assert response.status_code == 400
        message: str = response.json()["message"]
        return message

    assert sent("attachment", "a.exe", b"MZ").startswith("'attachment' parameter: application/x-")
    assert sent("attachment", "a.pdf", b"no pdf").startswith("'attachment' parameter: declared as")
    assert sent("text", "a.txt", b"text").startswith("'text' parameter: must be text")
    assert sent("colour", "a.txt", b"text").startswith("'colour' parameter: is not supported")


def test_keys_and_domains_are_refused_as_mailgun_does(site: Served, client: Client) -> None:
    def answered(key: str, domain: str = DOMAIN) -> Any:
        with Client(auth=("api", key), api_url=site.url) as other:
            return other.messages.create(data=HI, domain=domain)

    allowed = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING id"
    site.rows(allowed, ["shop@example.com", "*.example.net"])
    try:
        known = [
            answered(site.keys.live, one).status_code for one in ("example.com", "a.example.net")
        ]
        missing = answered(site.keys.live, "example.net")
        listed = client.domains.get(filters={"limit": 1}).json()
        foreign = client.messages.create(data=HI | {"from": "x@example.com"}, domain=DOMAIN)
    finally:
        site.rows(allowed, None)
    unknown = answered("key-123")
    with Client(auth=("api", "key-123"), api_url=site.url) as stranger:
        assert (client.ping(), stranger.ping()) == (True, False)
    assert (listed["total_count"], listed["items"][0]["name"]) == (1, "example.com")

    assert (unknown.status_code, unknown.text) == (401, "Forbidden")
    assert (answered(site.keys.reads).status_code, known) == (403, [200, 200])
    assert (missing.status_code, missing.json()) == (
        404,
        {"message": "Domain not found: example.net"},
    )
    assert (foreign.status_code, "'from' parameter" in foreign.text) == (400, True)
    assert answered(site.keys.live, "no domain").status_code == 404


def test_a_library_that_asks_for_more_hears_that_there_is_no_such_thing(client: Client) -> None:
    response = client.events.get(domain=DOMAIN)

    assert (response.status_code, list(response.json())) == (404, ["message"])


def test_a_finished_message_is_sent_as_it_came(site: Served, client: Client) -> None:
    tag = uuid4().hex
    to = f"ann-{tag}@example.com"
    data = {
        "to": [to, "Cc <john.doe@example.com>"],
        "o:tag": "mime",
        "o:deliverytime": format_datetime(datetime.now(UTC) + timedelta(hours=1)),
        "v:order": "81",
    }

    response = client.mimemessage.create(
        data=data, files={"message": MIME % (to.encode(), tag.encode())}, domain=DOMAIN
    )

    assert response.json() == {"id": f"<{tag}@example.com>", "message": "Queued. Thank you."}
    ((email_id,),) = site.rows(
        "SELECT id FROM mailqueue.email_recipients AS r JOIN mailqueue.email_queue AS q"
        " ON q.id = r.email_id WHERE r.address = %s",
        to,
    )
    mail = site.email(email_id)
    assert (mail["subject"], mail["tags"]) == ("Joe's Example Subject", ["mime"])
    assert mail["custom_data"] == {"user_variables": {"order": "81"}}
    source = requests.get(
        f"{site.url}/v1/emails/{email_id}/source",
        headers={"X-API-Key": site.keys.live},
        timeout=60,
    ).content
    assert b"\r\n\r\nTesting some Mailgun MIME awesomeness!\r\n" in source
    assert b"hidden@example.com" not in source


def test_the_librarys_own_example_of_mime_is_taken(site: Served, client: Client) -> None:
    import mailgun

    path = Path(mailgun.__file__).parent / "doc_tests" / "files" / "test_mime.mime"
    data = {"from": "f@example.com", "to": "t@example.com", "cc": "c@example.com", "subject": "Hi"}

    response = client.mimemessage.create(
        data=data, files={"message": path.read_bytes()}, domain=DOMAIN
    )

    assert response.status_code == 200, response.text
    source = site.rows(
        "SELECT convert_from(octets, 'UTF8') FROM mailqueue.attachments"
        " WHERE content_type = 'message/rfc822' ORDER BY id DESC LIMIT 1"
    )[0][0]
    assert source.endswith("\r\n\r\nTesting some Mailgun MIME awesomeness!\r\n")


@pytest.mark.parametrize(
    ("change", "octets", "message"),
    [
        ({}, None, "message parameter is missing"),
        ({"to": ""}, MIME, "to parameter is missing"),
        ({"to": "nobody"}, MIME, "'to' parameter is not a valid address"),
        ({"h:X": "y"}, MIME, "'h:' parameter: the message has its headers"),
        ({"t:variables": "{}"}, MIME, "'t:' parameter"),
        ({"text": "y"}, MIME, "'text' parameter: is not supported"),
        ({"o:tracking": "yes"}, MIME, "'o:tracking' parameter: a finished message"),
        ({}, b"Subject: x\n\nx", "'From' parameter: the field is needed"),
        ({}, b"From: a@example.com\nX-Mailqueue-Colour: red\n\nx", "'X-Mailqueue-Colour'"),
        ({}, b"From: a@example.com\n\n\0", "'message' parameter: the message has a NUL"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_message_that_is_none_is_refused(
    client: Client, change: dict[str, str], octets: bytes | None, message: str
) -> None:
    files = {"message": octets} if octets else {"other": ("", b"")}
    response = client.mimemessage.create(
        data={"to": "a@example.com"} | change,
        files=None if octets is None else files,
        domain=DOMAIN,
    )

    assert response.status_code == 400
    assert response.json()["message"].startswith(message)


def test_a_body_too_large_is_told(site: Served) -> None:
    response = requests.post(
        f"{site.url}/v3/{DOMAIN}/messages",
        auth=("api", site.keys.live),
        data=HI,
        files=[("attachment", ("a.pdf", b"x" * (27 * 1024 * 1024)))],
        timeout=120,
    )

    assert (response.status_code, list(response.json())) == (413, ["message"])


def test_what_is_no_form_is_refused(site: Served) -> None:
    def posted(**more: Any) -> requests.Response:
        url = f"{site.url}/v3/{DOMAIN}/messages"
        return requests.post(url, auth=("api", site.keys.live), timeout=60, **more)

    multipart = {"Content-Type": "multipart/form-data; boundary=x"}
    assert posted(json=HI).status_code == 400
    assert posted().json() == {"message": "from parameter is missing"}
    assert posted(data=b"--x\r\n\r\n", headers=multipart).status_code == 400
    assert posted(data=b"--x", headers={"Content-Type": "multipart/form-data"}).status_code == 400


def test_an_idempotency_key_makes_it_happen_once(site: Served, client: Client) -> None:
    tag = uuid4().hex
    data = HI | {"to": f"ann-{tag}@example.com"}
    headers = {"Idempotency-Key": tag}

    first, again = (
        client.messages.create(data=data, domain=DOMAIN, headers=headers) for _ in range(2)
    )
    other = client.messages.create(data=data | {"text": "x"}, domain=DOMAIN, headers=headers)

    assert first.json() == again.json()
    assert len(mails(site, f"ann-{tag}@example.com")) == 1
    assert (other.status_code, "Idempotency-Key" in other.text) == (400, True)


def test_anymails_backend_sends_and_tells_errors(site: Served) -> None:
    import django
    from anymail.exceptions import AnymailRequestsAPIError
    from anymail.message import AnymailMessage
    from django.conf import settings
    from django.core.mail import get_connection

    if not settings.configured:
        settings.configure(INSTALLED_APPS=["anymail"], ANYMAIL={}, USE_TZ=True)
        django.setup()
    connection = get_connection(
        "anymail.backends.mailgun.EmailBackend", api_key=site.keys.live, api_url=f"{site.url}/v3"
    )
    tag = uuid4().hex[:8]
    to = [f"ann-{tag}@example.com", f"bob-{tag}@example.com"]
    message = AnymailMessage(
        "Hi %recipient.name%", "Hello", "Shop <shop@example.com>", to, connection=connection
    )
    message.attach_alternative("<b>%recipient.name%</b>", "text/html")
    message.attach("bill.pdf", PDF, "application/pdf")
    message.merge_data = {to[0]: {"name": "Ann"}, to[1]: {"name": "Bob"}}
    message.merge_metadata = {to[0]: {"order": 81}}
    message.metadata = {"shop": "x"}
    message.tags = ["news"]
    message.reply_to = ["help@example.com"]

    assert message.send() == 1

    ann, bob = mails(site, f"%-{tag}@example.com")
    assert (ann["subject"], bob["html"]) == ("Hi Ann", "<b>Bob</b>")
    assert ann["custom_data"] == {"user_variables": {"shop": "x", "order": "81"}}
    assert (bob["tags"], bob["reply_to"]) == (["news"], "help@example.com")
    assert message.anymail_status.status == {"queued"}
    assert message.anymail_status.message_id.endswith("@example.com>")
    message.extra_headers = {"Sender": "x@example.com"}
    with pytest.raises(AnymailRequestsAPIError, match="Sender is set by mailqueue"):
        message.send()


def test_python_on_the_page_sends(site: Served) -> None:
    site.add_template("order-confirmation", subject="Your order", html="<p>{{ product }}</p>")
    before = site.count()
    text = "\n".join(after(each) for each in shown("mailgun", "diff", "python"))

    exec(compile(real(site, text), "mailgun.md", "exec"), {})

    assert site.count() == before + 5


@pytest.fixture
def published(site: Served, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the examples that come with the library are given; they name no server."""
    monkeypatch.setattr(Config, "DEFAULT_API_URL", site.url)
    return {
        "api_key": site.keys.live,
        "domain": DOMAIN,
        "from_email": "from@example.com",
        "to_email": "to@example.com",
        "cc_email": "cc@example.com",
    }


@pytest.mark.parametrize("name", ["message", "message_tags", "mime", "no_tracking", "scheduled"])
def test_published_examples_run_unmodified(
    published: dict[str, str], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = Path(messages_examples.__file__).parents[1] / "doc_tests" / "files"
    given = published | {
        "html_body": "<b>Hello!</b>",
        "file_path_1": str(folder / "test1.txt"),
        "file_path_2": str(folder / "test2.txt"),
        "mime_file_path": str(folder / "test_mime.mime"),
    }

    for kind in ("sync", "async"):
        example = getattr(messages_examples, f"post_{name}_{kind}")
        wanted = {each: given[each] for each in inspect.signature(example).parameters}
        done = example(**wanted)
        if kind == "async":
            asyncio.run(done)

    assert capsys.readouterr().out.count("'message': 'Queued. Thank you.'") == 2


def test_published_examples_of_the_builder_run_unmodified(
    published: dict[str, str],
    template: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(builder_examples, "MESSAGES_TO", "alice@example.com", raising=False)
    given = (published["api_key"], DOMAIN)

    builder_examples.send_standard_email_sync(*given)
    builder_examples.send_batch_email_sync(*given)
    said = capsys.readouterr().out
    asyncio.run(builder_examples.send_template_email_async(*given))
    asyncio.run(builder_examples.send_amp_and_inline_images_async(*given))
    refused = capsys.readouterr().out

    assert said.count("'message': 'Queued. Thank you.'") == 2
    assert template in refused
    assert "no version 2" in refused, "it asks for v2, and there is one version"
    assert "'amp-html' parameter: is not supported" in refused
