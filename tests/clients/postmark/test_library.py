"""The published Python library for Postmark, postmarker, unmodified, against our server."""

import base64
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import Any
from uuid import UUID

import pytest
from postmarker.core import PostmarkClient
from postmarker.exceptions import ClientError

from tests.clients.postmark.mails import HELLO, code_of, post
from tests.clients.serving import PDF, Served


@pytest.fixture(scope="module")
def gone(site: Served) -> str:
    """Return a suppressed address."""
    site.suppress("gone@example.org")
    return "Gone@example.org"


def test_everything_a_message_can_say_is_queued(site: Served, postmark: PostmarkClient) -> None:
    sent = postmark.emails.send(
        From="Sender <sender@example.com>",
        To='Ann <ann@example.org>, "Lee, Bo" <bo@example.org>',
        Cc="carl@example.org",
        Bcc=["dora@example.org", "eve@example.org"],
        Subject="Postmark test",
        Tag="Invitation",
        HtmlBody="<b>Hello</b>",
        TextBody="Hello",
        Metadata={"client-id": "12345", "n": 2},
        ReplyTo="reply@example.com, Two <two@example.com>",
        Headers={"X-CUSTOM": "value"},
        TrackOpens=False,
        Attachments=[
            ("bill.pdf", base64.b64encode(PDF).decode(), "application/pdf"),
            ("logo.pdf", base64.b64encode(PDF).decode(), "application/pdf", "cid:logo@example"),
            {"Name": "n.txt", "Content": "bm90ZXM=", "ContentType": "text/plain; charset=utf-8"},
        ],
        MessageStream="outbound",
    )

    found = site.email(sent["MessageID"])
    assert (sent["ErrorCode"], sent["Message"]) == (0, "OK")
    assert sent["To"] == 'Ann <ann@example.org>, "Lee, Bo" <bo@example.org>'
    assert sent["SubmittedAt"]
    assert (found["from_name"], found["from_email"]) == ("Sender", "sender@example.com")
    assert (found["subject"], found["html"], found["text"]) == (
        "Postmark test",
        "<b>Hello</b>",
        "Hello",
    )
    assert found["reply_to"] == "reply@example.com, Two <two@example.com>"
    assert found["headers"] == {"X-CUSTOM": "value"}
    assert (found["tags"], found["category"]) == (["Invitation"], "transactional")
    assert found["custom_data"] == {"postmark_metadata": {"client-id": "12345", "n": "2"}}
    assert found["recipients"] == [
        ["to", "ann@example.org", "Ann"],
        ["to", "bo@example.org", "Lee, Bo"],
        ["cc", "carl@example.org", None],
        ["bcc", "dora@example.org", None],
        ["bcc", "eve@example.org", None],
    ]
    assert [(one["name"], one["type"], one.get("cid")) for one in found["files"]] == [
        ("bill.pdf", "application/pdf", None),
        ("logo.pdf", "application/pdf", "logo@example"),
        ("n.txt", "text/plain", None),
    ]


def test_a_message_of_pythons_own_is_queued(site: Served, postmark: PostmarkClient) -> None:
    message = MIMEMultipart("mixed")
    message["From"], message["To"] = "sender@example.com", "ann@example.org"
    message["Subject"] = "From Python"
    message.attach(MIMEText("Hello"))
    file = MIMEApplication(PDF, "pdf")
    file.add_header("Content-Disposition", "attachment", filename="bill.pdf")
    message.attach(file)

    sent = postmark.emails.send(message=message)

    found = site.email(sent["MessageID"])
    assert (found["subject"], found["text"]) == ("From Python", "Hello")
    assert found["files"][0]["name"] == "bill.pdf"


def test_a_batch_answers_for_each_message(
    site: Served, postmark: PostmarkClient, gone: str
) -> None:
    before = site.count()
    done = postmark.emails.send_batch(
        HELLO,
        {**HELLO, "To": "nobody"},
        {**HELLO, "To": gone},
        {**HELLO, "MessageStream": "No Such"},
        {**HELLO, "To": "last@example.org"},
    )

    assert [one["ErrorCode"] for one in done] == [0, 300, 406, 1235, 0]
    assert done[1]["Message"] == "Invalid 'To' address: 'nobody'."
    assert "Found inactive addresses: gone@example.org." in done[2]["Message"]
    assert site.email(done[4]["MessageID"])["to"] == "last@example.org"
    assert site.count() == before + 3, "the suppressed one is kept, as suppressed"


def test_larger_batches_are_cut_by_the_library(site: Served, postmark: PostmarkClient) -> None:
    before = site.count()

    done = postmark.emails.send_batch(*[HELLO] * 501)

    assert {one["ErrorCode"] for one in done} == {0}
    assert site.count() == before + 501


def test_a_large_batch_keeps_its_order(site: Served, postmark: PostmarkClient) -> None:
    long = "x" * 2_900_000
    emails: Any = [
        {**HELLO, "To": f"{n}@example.org" if n != 1 else "nobody", "HtmlBody": long}
        for n in range(4)
    ]

    done = postmark.emails.send_batch(*emails)

    assert [one["ErrorCode"] for one in done] == [0, 300, 0, 0]
    assert [site.email(one["MessageID"])["to"][0] for one in done if "MessageID" in one] == [*"023"]


def test_inactive_recipients_are_named(site: Served, postmark: PostmarkClient, gone: str) -> None:
    code, message = code_of(postmark, To=gone)
    assert code == 406
    assert "Found inactive addresses: gone@example.org. Inactive recipients are" in message

    code, message = code_of(postmark, To=gone, Cc=gone)
    assert code == 406

    some = postmark.emails.send(**{**HELLO, "To": f"ann@example.org,{gone}"})
    assert some["ErrorCode"] == 0
    assert "not deliver to these inactive addresses: gone@example.org. Inactive" in some["Message"]
    assert site.email(some["MessageID"])["status"] == "pending"


def test_a_template_says_what_it_says_for_each(site: Served, postmark: PostmarkClient) -> None:
    site.add_template("1234567", subject="Order {{ number }}", html="<p>For {{ name }}</p>")
    asked: Any = {"From": HELLO["From"], "To": HELLO["To"]}
    model = {"number": 81, "name": "Ann"}

    by_id = postmark.emails.send_with_template(TemplateId=1234567, TemplateModel=model, **asked)
    by_alias = postmark.emails.send_with_template(
        TemplateId=None, TemplateAlias="1234567", TemplateModel=model, **asked
    )
    batch = postmark.emails.send_template_batch(
        {"TemplateId": 1234567, "TemplateModel": model, **asked},
        {"TemplateId": 7, "TemplateModel": model, **asked},
        {"TemplateId": 1234567, "TemplateModel": {}, **asked},
    )

    assert site.email(by_id["MessageID"])["custom_data"] == {"variables": model}
    assert site.email(by_alias["MessageID"])["template"]
    assert [one["ErrorCode"] for one in batch] == [0, 1101, 300]
    assert "name" in batch[2]["Message"] or "number" in batch[2]["Message"]
    with pytest.raises(ClientError) as caught:
        postmark.emails.send_with_template(TemplateId=7, TemplateModel=model, **asked)
    assert caught.value.error_code == 1101
    shown = postmark.messages.outbound.get(by_id["MessageID"])
    assert (shown.Subject, shown.HtmlBody) == ("Order 81", "<p>For Ann</p>")


def test_style_sheets_are_inlined_where_the_template_is_published_so(
    site: Served, postmark: PostmarkClient
) -> None:
    html = "<html><head><style>p { color: red }</style></head><body><p>Hi</p></body></html>"
    site.add_template("styled", subject="Hi", html=html)
    asked: Any = {"From": HELLO["From"], "To": HELLO["To"], "TemplateId": None}
    asked |= {"TemplateAlias": "styled", "TemplateModel": {}}

    with pytest.raises(ClientError, match="InlineCss") as caught:
        postmark.emails.send_with_template(**asked)

    assert caught.value.error_code == 300
    assert postmark.emails.send_with_template(**asked, InlineCss=False)["ErrorCode"] == 0


def test_a_message_is_shown_with_its_source(site: Served, postmark: PostmarkClient) -> None:
    given = {
        **HELLO,
        "ReplyTo": "a@example.com,Bo <bo@example.com>",
        "Cc": "Carl <carl@example.org>",
        "Tag": "t",
        "Metadata": {"a": "b"},
    }
    sent = postmark.emails.send(**given)
    site.rows(
        "INSERT INTO mailqueue.email_events (email_id, project_id, type, recipient_email, detail)"
        " SELECT q.id, q.project_id, 'delivered', q.recipient_email, '250 ok'"
        " FROM mailqueue.email_queue AS q WHERE q.id = %s RETURNING 1",
        sent["MessageID"],
    )

    shown = postmark.messages.outbound.get(sent["MessageID"])

    assert (shown.MessageID, shown.Status) == (sent["MessageID"], "Queued")
    assert shown.From == "Sender <sender@example.com>"
    assert shown.To == [{"Email": "receiver@example.org", "Name": None}]
    assert shown.Cc == [{"Email": "carl@example.org", "Name": "Carl"}]
    assert (shown.Tag, shown.Metadata, shown.MessageStream) == ("t", {"a": "b"}, "outbound")
    assert shown.MessageEvents[0]["Type"] == "Delivered"
    dumped = shown.get_dump()
    assert "Subject: Postmark test" in dumped
    assert "Reply-To: a@example.com, Bo <bo@example.com>" in dumped
    with pytest.raises(ClientError) as caught:
        postmark.messages.outbound.get(UUID(int=1))
    assert caught.value.error_code == 701


def test_objects_of_other_projects_are_not_shown(site: Served, postmark: PostmarkClient) -> None:
    sent = postmark.emails.send(**HELLO)
    other = PostmarkClient(server_token=site.keys.other, root_api_url=site.url)

    for act in (other.messages.outbound.get, other.messages.outbound.get_dump):
        with pytest.raises(ClientError) as caught:
            act(sent["MessageID"])
        assert caught.value.error_code == 701


def test_the_token_names_its_project(postmark: PostmarkClient) -> None:
    assert postmark.server.get().Name == "default"


def test_the_test_token_looks_and_sends_nothing(site: Served) -> None:
    before = site.count()
    client = PostmarkClient(server_token="POSTMARK_API_TEST", root_api_url=site.url)

    assert client.emails.send(**HELLO)["Message"] == "Test job accepted"
    assert code_of(client, To="nobody")[0] == 300
    done = client.emails.send_batch(HELLO, {**HELLO, "To": "nobody"})
    assert [one["ErrorCode"] for one in done] == [0, 300]
    templated = {"From": "a@example.com", "To": "b@example.com", "TemplateModel": {}}
    assert client.emails.send_with_template(TemplateId=1, **templated)["ErrorCode"] == 0
    with pytest.raises(ClientError) as caught:
        client.server.get()
    assert caught.value.error_code == 10
    assert site.count() == before


def test_mail_of_a_test_key_goes_to_the_trap(site: Served) -> None:
    client = PostmarkClient(server_token=site.keys.test, root_api_url=site.url)

    sent = client.emails.send(**HELLO)

    assert site.email(sent["MessageID"])["sender"] == "(test)"


def test_broadcasts_are_marketing_and_other_streams_are_categories(
    site: Served, postmark: PostmarkClient
) -> None:
    for stream, category in (("broadcast", "marketing"), ("news-letter", "news-letter")):
        sent = postmark.emails.send(**HELLO, MessageStream=stream)
        assert site.email(sent["MessageID"])["category"] == category


def test_the_same_key_and_message_is_accepted_once(site: Served) -> None:
    before = site.count()
    first, again = (post(site, "/email", HELLO, Idempotency_Key="k1") for _ in range(2))
    other = post(site, "/email", {**HELLO, "Subject": "x"}, Idempotency_Key="k1")
    batches = [post(site, "/email/batch", [HELLO], Idempotency_Key="k2") for _ in range(2)]

    assert first.json() == again.json()
    assert (other.status_code, other.json()["ErrorCode"]) == (422, 300)
    assert batches[0].json() == batches[1].json()
    assert site.count() == before + 2
