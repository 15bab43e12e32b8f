"""By vendors' libraries, a mail to the vendor's maximum of recipients reaches each once."""

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any
from uuid import UUID, uuid4

import pytest
import requests
import sendgrid.helpers.mail as sg
from mailgun.client import Client
from python_http_client.exceptions import BadRequestsError
from sendgrid import SendGridAPIClient
from sendgrid.helpers.mail import Mail

from tests.clients.mailgun.mails import DOMAIN, HI
from tests.clients.sendgrid.mails import refused
from tests.clients.serving import PDF, Served

COUNTS = [50, 51, 99, 100, 1000]


@pytest.fixture
def client(site: Served) -> SendGridAPIClient:
    return SendGridAPIClient(site.keys.live, host=site.url)


@pytest.fixture
def mailgun(site: Served) -> Iterator[Client]:
    with Client(auth=("api", site.keys.live), api_url=site.url) as made:
        yield made


def people(count: int, of: str) -> list[str]:
    return [f"p{n}@{of}.example" for n in range(count)]


def mails_of(site: Served, first: UUID) -> list[UUID]:
    """Return the mails that belong to the id in a response."""
    answer = asked(site, f"/v1/batches/{first}")
    if answer.status_code == 404:
        return [first]
    listed = asked(site, f"/v1/emails?batch={first}&limit=100").json()
    found = [UUID(one["id"]) for one in listed["data"]]
    assert answer.json()["recipients"] == len(found)
    return found


def asked(site: Served, path: str) -> requests.Response:
    return requests.get(site.url + path, headers={"X-API-Key": site.keys.live}, timeout=60)


def envelope(site: Served, mails: list[UUID]) -> list[str]:
    """Return the recipients of mails, each as often as it gets a copy."""
    found = []
    for mail in mails:
        (row,) = site.rows(
            "SELECT q.recipients::integer, coalesce((SELECT array_agg(r.address) FROM"
            " mailqueue.email_recipients AS r WHERE r.email_id = q.id), ARRAY[q.recipient_email])"
            " FROM mailqueue.email_queue AS q WHERE q.id = %s",
            mail,
        )
        assert row[0] == len(row[1]) <= 50
        found += row[1]
    return sorted(found)


def message_of(site: Served, mail: UUID) -> EmailMessage:
    octets = asked(site, f"/v1/emails/{mail}/source").content
    found = message_from_bytes(octets, policy=policy.default)
    assert isinstance(found, EmailMessage)
    return found


def named(message: EmailMessage, header: str) -> list[str]:
    return [one.addr_spec for one in message[header].addresses] if message[header] else []


def personalization(to: list[str], cc: list[str], bcc: list[str], **more: Any) -> dict[str, Any]:
    kinds = {"to": to, "cc": cc, "bcc": bcc}
    return more | {kind: [{"email": one} for one in some] for kind, some in kinds.items() if some}


def body(*each: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "personalizations": list(each),
        "from": {"email": "shop@example.com"},
        "subject": "To many",
        "content": [{"type": "text/html", "value": "<p>Hello</p>"}],
    } | more


@pytest.mark.parametrize("count", COUNTS)
def test_sendgrid_writes_to_many_in_to(site: Served, client: SendGridAPIClient, count: int) -> None:
    everyone = people(count, f"to{count}")
    message = Mail("shop@example.com", everyone, "To many", "text", "<p>Hello</p>")

    first = UUID(client.send(message).headers["X-Message-Id"])

    mails = mails_of(site, first)
    assert first in mails
    assert len(mails) == -(-count // 50)
    assert envelope(site, mails) == sorted(everyone)
    for mail in (mails[0], mails[-1]):
        assert named(message_of(site, mail), "To") == everyone


def test_sendgrid_sends_to_blind_copies_without_naming_them(
    site: Served, client: SendGridAPIClient
) -> None:
    to, cc, bcc = ["ann@blind.example"], ["cleo@blind.example"], people(998, "blind")
    message = Mail("shop@example.com", to[0], "To many", "text")
    message.cc = [sg.Cc(one, "Cleo, of the Shop") for one in cc]
    message.bcc = [sg.Bcc(one) for one in bcc]
    message.attachment = sg.Attachment("JVBERi0xLjQ=", "a.pdf", "application/pdf", "attachment")

    first = UUID(client.send(message).headers["X-Message-Id"])

    mails = mails_of(site, first)
    assert len(mails) == 20
    assert envelope(site, mails) == sorted([*to, *cc, *bcc])
    for mail in (mails[0], mails[9], mails[-1]):
        message_sent = message_of(site, mail)
        assert named(message_sent, "To") == to
        assert [str(one) for one in message_sent["Cc"].addresses] == [
            '"Cleo, of the Shop" <cleo@blind.example>'
        ]
        assert "p1@blind" not in str(message_sent["To"]) + str(message_sent["Cc"])
        assert "Bcc" not in message_sent
        assert [one.get_filename() for one in message_sent.iter_attachments()] == ["a.pdf"]
    ids = [str(mail) for mail in mails]
    stored = site.rows(
        "SELECT count(DISTINCT q.content_id), count(DISTINCT c.files #>> '{0,id}')"
        " FROM mailqueue.email_queue AS q JOIN mailqueue.email_contents AS c"
        " ON c.id = q.content_id WHERE q.id = ANY (%s::uuid[])",
        ids,
    )
    assert stored == [(1, 1)]


def test_sendgrid_answers_for_all_personalizations_by_one_id(
    site: Served, client: SendGridAPIClient
) -> None:
    each = [
        personalization(people(2, "one"), [], []),
        personalization(people(120, "two"), [], people(30, "two-blind")),
        personalization(people(1, "three"), [], [], subject="Another"),
    ]

    response = client.client.mail.send.post(request_body=body(*each))

    mails = mails_of(site, UUID(response.headers["X-Message-Id"]))
    assert len(mails) == 1 + 3 + 1
    expected = people(2, "one") + people(120, "two") + people(30, "two-blind") + people(1, "three")
    assert envelope(site, mails) == sorted(expected)
    subjects = {str(message_of(site, mail)["Subject"]) for mail in mails}
    assert subjects == {"To many", "Another"}


def test_sendgrid_under_one_key_happens_once_for_all_of_its_mails(
    site: Served, client: SendGridAPIClient
) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    wanted = body(personalization(people(120, "once"), [], []))

    def send(request: dict[str, Any]) -> Any:
        return client.client.mail.send.post(request_body=request, request_headers=headers)

    first = send(wanted).headers["X-Message-Id"]
    before = site.count()

    assert send(wanted).headers["X-Message-Id"] == first
    assert site.count() == before
    for other in (people(119, "once"), people(121, "once"), people(50, "once")):
        with pytest.raises(BadRequestsError) as caught:
            send(body(personalization(other, [], [])))
        assert "was used for another email" in str(caught.value.to_dict)
    assert site.count() == before


def test_of_a_request_that_is_refused_nothing_is_kept(
    site: Served, client: SendGridAPIClient
) -> None:
    before = site.count()
    each = [
        personalization(people(500, "first"), [], []),
        personalization(people(400, "second"), [], [], headers={"Bad\n": "x"}),
    ]

    [error] = refused(client, body(*each), BadRequestsError)

    assert error["field"] == "personalizations.1.headers"
    assert site.count() == before


def test_sendgrid_looks_at_a_mail_to_many_and_sends_nothing(
    site: Served, client: SendGridAPIClient
) -> None:
    before = site.count()
    sandboxed = {"mail_settings": {"sandbox_mode": {"enable": True}}}
    wanted = body(personalization(people(600, "sandbox"), [], []), **sandboxed)

    assert client.client.mail.send.post(request_body=wanted).status_code == 200
    assert site.count() == before


def first_of(response: Any) -> UUID:
    found = re.fullmatch(r"<([0-9a-f]{32})@example\.com>", response.json()["id"])
    assert found is not None, response.text
    return UUID(found[1])


@pytest.mark.parametrize("count", COUNTS)
def test_mailgun_writes_to_many_without_variables(
    site: Served, mailgun: Client, count: int
) -> None:
    everyone = people(count, f"mg{count}")
    to, cc, bcc = everyone[:20], everyone[20:40], everyone[40:]
    data = HI | {"to": ", ".join(to), "cc": cc, "bcc": bcc}
    files = [("attachment", ("a.pdf", PDF))]

    response = mailgun.messages.create(data=data, files=files, domain=DOMAIN)

    mails = mails_of(site, first_of(response))
    assert len(mails) == -(-count // 50)
    assert envelope(site, mails) == sorted(everyone)
    message = message_of(site, mails[0])
    assert (named(message, "To"), named(message, "Cc")) == (to, cc)
    assert [one.get_filename() for one in message.iter_attachments()] == ["a.pdf"]


def test_mailgun_writes_once_to_who_is_named_twice(site: Served, mailgun: Client) -> None:
    everyone = people(80, "twice")
    data = HI | {"to": [*everyone, *everyone], "cc": everyone[:1], "bcc": ["P1@TWICE.example"]}

    mails = mails_of(site, first_of(mailgun.messages.create(data=data, domain=DOMAIN)))

    # The part before the @ is its server's to read.
    assert envelope(site, mails) == sorted([*everyone, "P1@TWICE.example"])


def test_mailgun_writes_to_many_with_variables(site: Served, mailgun: Client) -> None:
    everyone = people(1000, "vars")
    data = HI | {"to": everyone, "recipient-variables": "{}"}

    first = first_of(mailgun.messages.create(data=data, domain=DOMAIN))

    assert asked(site, f"/v1/batches/{first}").json()["recipients"] == 1000
    query = (
        "SELECT count(*) FROM mailqueue.email_queue WHERE recipient_email LIKE '%%@vars.example'"
    )
    assert site.rows(query) == [(1000,)]


def test_a_finished_message_by_mailgun_goes_to_many(site: Served, mailgun: Client) -> None:
    everyone = people(1000, "mime")
    mime = b"From: shop@example.com\r\nTo: list@example.com\r\nSubject: Finished\r\n\r\nHello\r\n"

    response = mailgun.mimemessage.create(
        data={"to": everyone}, files={"message": mime}, domain=DOMAIN
    )

    assert response.status_code == 200
    found = site.rows(
        "SELECT b.id FROM mailqueue.batches AS b WHERE b.subject = 'Finished'"
        " AND cardinality(b.email_ids) = 20"
    )
    mails = mails_of(site, found[0][0])
    assert envelope(site, mails) == sorted(everyone)
    assert str(message_of(site, mails[3])["To"]) == "list@example.com"
    refusal = mailgun.mimemessage.create(
        data={"to": people(1001, "mime")}, files={"message": mime}, domain=DOMAIN
    )
    assert (refusal.status_code, "1000 recipients" in refusal.text) == (400, True)
