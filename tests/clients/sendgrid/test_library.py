"""The published `sendgrid` library, unmodified, sends through this API as through SendGrid."""

import base64
import time
from uuid import UUID, uuid4

import pytest
from python_http_client.exceptions import (
    BadRequestsError,
)
from sendgrid import SendGridAPIClient
from sendgrid.helpers import mail as sg
from sendgrid.helpers.mail import Mail

from tests.clients.sendgrid.mails import ERRORS, hello, mails, raw, refused
from tests.clients.serving import PDF, Served

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452")


@pytest.fixture
def client(site: Served) -> SendGridAPIClient:
    return SendGridAPIClient(site.keys.live, host=site.url)


def test_hello_email(site: Served, client: SendGridAPIClient) -> None:
    response = client.send(hello())

    assert (response.status_code, response.body) == (202, b"")
    mail = site.email(UUID(response.headers["X-Message-Id"]))
    assert mail["subject"] == "Sending with Twilio SendGrid is Fun"
    assert mail["html"] == "<strong>and easy to do anywhere</strong>"
    assert (mail["text"], mail["from_email"]) == (None, "from_email@example.com")
    assert mail["to"] == "to@example.com"


def test_the_body_by_hand(site: Served, client: SendGridAPIClient) -> None:
    response = client.client.mail.send.post(request_body=raw())

    mail = site.email(UUID(response.headers["X-Message-Id"]))
    assert (response.status_code, mail["subject"], mail["text"]) == (
        202,
        "Sending",
        "and easy to do anywhere",
    )


def test_everything_that_can_be_said(site: Served, client: SendGridAPIClient) -> None:
    at = int(time.time()) + 3600
    message = Mail()
    message.from_email = sg.From("from@example.com", "Ann, of the Shop")
    message.reply_to = sg.ReplyTo("help@example.com", "Help")
    message.to = [sg.To("ann@example.com", "Ann"), sg.To("bob@example.com")]
    message.cc = sg.Cc("cleo@example.com", 'Cleo "C" Smith')
    message.bcc = [sg.Bcc("dan@example.com")]
    message.subject = sg.Subject("Ünïcode")
    message.content = [
        sg.Content(sg.MimeType.text, "text"),
        sg.Content(sg.MimeType.html, "<img src='cid:logo'>"),
    ]
    message.attachment = [
        sg.Attachment(
            sg.FileContent(base64.b64encode(PNG).decode()),
            sg.FileName("logo.png"),
            sg.FileType("image/png"),
            sg.Disposition("inline"),
            sg.ContentId("logo"),
        ),
        sg.Attachment(
            sg.FileContent(base64.b64encode(PDF).decode()),
            sg.FileName("bill.pdf"),
            sg.FileType("application/pdf"),
            sg.Disposition("attachment"),
            sg.ContentId("Example Content ID"),
        ),
    ]
    message.header = sg.Header("X-Test1", "Test1")
    message.category = [sg.Category("Category 1"), sg.Category("Category 2")]
    message.custom_arg = [sg.CustomArg("marketing1", "false"), sg.CustomArg("order", "81")]
    message.send_at = sg.SendAt(at)
    message.batch_id = sg.BatchId("spring")
    message.asm = sg.Asm(sg.GroupId(7))
    message.ip_pool_name = sg.IpPoolName("relay")
    message.mail_settings = sg.MailSettings(
        sandbox_mode=sg.SandBoxMode(False), spam_check=sg.SpamCheck(False, 1)
    )
    message.tracking_settings = sg.TrackingSettings(
        sg.ClickTracking(True, False), sg.OpenTracking(True), sg.SubscriptionTracking(False)
    )

    response = client.send(message)

    email_id = UUID(response.headers["X-Message-Id"])
    mail = site.email(email_id)
    assert mail["recipients"] == [
        ["to", "ann@example.com", "Ann"],
        ["to", "bob@example.com", None],
        ["cc", "cleo@example.com", 'Cleo "C" Smith'],
        ["bcc", "dan@example.com", None],
    ]
    assert (mail["from_email"], mail["from_name"]) == ("from@example.com", "Ann, of the Shop")
    assert mail["reply_to"] == "Help <help@example.com>"
    assert (mail["subject"], mail["text"], mail["html"]) == (
        "Ünïcode",
        "text",
        "<img src='cid:logo'>",
    )
    assert sorted((one["name"], one["type"], one.get("cid")) for one in mail["files"]) == [
        ("bill.pdf", "application/pdf", None),
        ("logo.png", "image/png", "logo"),
    ]
    assert mail["headers"] == {"X-Test1": "Test1"}
    assert sorted(mail["tags"]) == ["Category 1", "Category 2"]
    assert mail["custom_data"] == {"custom_args": {"marketing1": "false", "order": "81"}}
    assert (mail["category"], mail["sender"]) == ("asm-7", "relay")
    query = (
        "SELECT extract(epoch FROM q.run_at)::int, q.campaign_id, c.tracking_options"
        " FROM mailqueue.email_queue AS q"
        " JOIN mailqueue.email_contents AS c ON c.id = q.content_id WHERE q.id = %s"
    )
    assert site.rows(query, email_id) == [(at, "spring", 7)], "it is tracked, and can be left"


def test_each_personalization_is_a_mail(site: Served, client: SendGridAPIClient) -> None:
    tag = uuid4().hex[:8]
    to_emails = [
        sg.To(f"ann-{tag}@example.com", "Ann", substitutions={"-name-": "Ann", "-github-": "a"}),
        sg.To(
            f"bob-{tag}@example.com",
            "Bob",
            substitutions={"-name-": "Bob"},
            subject="Hi -name-, only for you",
        ),
    ]
    message = Mail(
        from_email=("test@example.com", "Shop"),
        to_emails=to_emails,
        subject=sg.Subject("Hi -name-"),
        plain_text_content="Hello -name-, see -github-",
        html_content="<b>-name-</b> -github-",
        is_multiple=True,
        global_substitutions=sg.Substitution("-github-", "z"),
    )
    message.add_attachment(
        sg.Attachment(
            sg.FileContent(base64.b64encode(PDF).decode()),
            sg.FileName("bill.pdf"),
            sg.FileType("application/pdf"),
        )
    )

    response = client.send(message)

    bob, ann = mails(site, f"%-{tag}@example.com")  # the library puts the last one first
    assert (ann["subject"], ann["text"], ann["html"]) == (
        "Hi Ann",
        "Hello Ann, see z",
        "<b>Ann</b> z",
    )
    assert (bob["subject"], bob["text"]) == ("Hi Bob, only for you", "Hello Bob, see z")
    assert [one["files"][0]["name"] for one in (ann, bob)] == ["bill.pdf", "bill.pdf"]
    assert ann["files"] == bob["files"], "the file is kept once"
    assert site.email(UUID(response.headers["X-Message-Id"]))["to"] == f"bob-{tag}@example.com"


def test_a_thousand_personalizations_are_accepted_and_one_more_is_not(
    site: Served, client: SendGridAPIClient
) -> None:
    tag = uuid4().hex[:8]
    some = [{"to": [{"email": f"p{n}-{tag}@example.com"}]} for n in range(1001)]

    (error,) = refused(client, raw(personalizations=some, subject="Hi"), BadRequestsError)
    assert (error["field"], "You have provided 1001" in error["message"]) == (
        "personalizations",
        True,
    )
    assert error["help"] == f"{ERRORS}#-Personalizations-Errors"
    assert client.send(raw(personalizations=some[:1000], subject="Hi")).status_code == 202
    query = "SELECT count(*) FROM mailqueue.email_queue WHERE recipient_email LIKE %s"
    assert site.rows(query, f"%-{tag}@example.com") == [(1000,)]


def test_own_values_of_a_personalization_come_first(
    site: Served, client: SendGridAPIClient
) -> None:
    tag = uuid4().hex[:8]
    at = int(time.time()) + 600
    body = raw(
        personalizations=[
            {
                "to": [{"email": f"ann-{tag}@example.com"}],
                "from": {"email": "other@example.com", "name": "Other"},
                "headers": {"X-A": "own"},
                "custom_args": {"a": "own"},
                "send_at": at,
            }
        ],
        subject="Hi",
        headers={"X-A": "all", "X-B": "all"},
        reply_to_list=[{"email": "a@example.com", "name": "A, B"}, {"email": "b@example.com"}],
        custom_args={"a": "all", "b": "all"},
        send_at=at + 600,
    )

    client.send(body)

    (mail,) = mails(site, f"ann-{tag}@example.com")
    assert (mail["from_email"], mail["from_name"]) == ("other@example.com", "Other")
    assert mail["headers"] == {"X-A": "own", "X-B": "all"}
    assert mail["reply_to"] == '"A, B" <a@example.com>, b@example.com'
    assert mail["custom_data"] == {"custom_args": {"a": "own", "b": "all"}}


def test_sections_are_put_in_before_their_own_tags(site: Served, client: SendGridAPIClient) -> None:
    tag = uuid4().hex[:8]
    body = raw(
        personalizations=[
            {
                "to": [{"email": f"ann-{tag}@example.com"}],
                "substitutions": {"-where-": "-home-", "-name-": "Ann", "-none-": None},
            }
        ],
        subject="Hi -name-",
        sections={"-home-": "At home, -name-"},
        content=[{"type": "text/plain", "value": "-where--none-."}],
    )

    client.send(body)

    assert mails(site, f"ann-{tag}@example.com")[0]["text"] == "At home, Ann."


@pytest.fixture(scope="module")
def template(site: Served) -> str:
    site.add_template("d-welcome", subject="Hello {{ name }}", html="<p>{{ name }}</p>")
    return "d-welcome"


def test_a_dynamic_template_has_its_data(
    site: Served, client: SendGridAPIClient, template: str
) -> None:
    message = hello()
    message.dynamic_template_data = {"name": "Ann", "items": [{"n": 1}]}
    message.template_id = template

    mail = site.email(UUID(client.send(message).headers["X-Message-Id"]))

    assert mail["template"]
    assert mail["custom_data"] == {"variables": {"name": "Ann", "items": [{"n": 1}]}}
    message.template_id = "d-f43daeeaef504760851f727007e0b5d0"
    (error,) = refused(client, message, BadRequestsError)
    assert error["field"] == "template_id"


def test_the_sandbox_only_looks(site: Served, client: SendGridAPIClient) -> None:
    to = f"{uuid4().hex}@example.com"
    message = hello(to)
    message.mail_settings = sg.MailSettings(sandbox_mode=sg.SandBoxMode(True))

    response = client.send(message)

    assert (response.status_code, response.body) == (200, b"")
    assert mails(site, to) == []
    message.header = sg.Header("X-Bad", "a\nb")
    assert refused(client, message, BadRequestsError)[0]["field"] == "headers"
