"""Complete messages given to Mailgun's API are sent unchanged."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from uuid import uuid4

import pytest
import requests
from mailgun.client import Client

from tests.clients.mailgun.mails import DOMAIN, HI, email_of
from tests.clients.serving import Served

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


def test_a_test_key_sends_to_the_trap(site: Served) -> None:
    with Client(auth=("api", site.keys.test), api_url=site.url) as client:
        mail = email_of(site, client.messages.create(data=HI, domain=DOMAIN))
        mime = client.mimemessage.create(
            data={"to": "a@example.com"},
            files={"message": MIME % (b"x@y.example", b"t")},
            domain=DOMAIN,
        )

    assert mail["sender"] == "(test)"
    assert mime.json()["id"] == "<t@example.com>"


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
        ({"h:X": "y"}, MIME, "'h:' parameter: a finished message has its own headers"),
        ({"t:variables": "{}"}, MIME, "'t:' parameter"),
        ({"text": "y"}, MIME, "'text' parameter: is not supported"),
        ({"o:tracking": "yes"}, MIME, "'o:tracking' parameter: a finished message"),
        ({}, b"Subject: x\n\nx", "'From' parameter: the field is required"),
        ({}, b"From: a@example.com\nX-Mailqueue-Colour: red\n\nx", "'X-Mailqueue-Colour'"),
        ({}, b"From: a@example.com\n\n\0", "'message' parameter: the message contains a NUL"),
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


def test_a_message_without_an_id_has_the_same_one_when_it_is_sent_again(client: Client) -> None:
    def sent(key: str) -> object:
        return client.mimemessage.create(
            data={"to": "a@example.com"},
            files={"message": b"From: a@example.com\nSubject: x\n\nx"},
            domain=DOMAIN,
            headers={"Idempotency-Key": key},
        ).json()

    key = uuid4().hex

    assert sent(key) == sent(key)
    assert sent(key) != sent(uuid4().hex)
