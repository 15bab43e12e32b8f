"""The published `sendgrid` library, unmodified, sends and fails as it does with SendGrid."""

import base64
import json
import time
import warnings
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from python_http_client.exceptions import (
    BadRequestsError,
    ForbiddenError,
    HTTPError,
    MethodNotAllowedError,
    NotFoundError,
    PayloadTooLargeError,
    TooManyRequestsError,
    UnauthorizedError,
    UnsupportedMediaTypeError,
)
from sendgrid import SendGridAPIClient
from sendgrid.helpers import mail as sg
from sendgrid.helpers.mail import Mail

from tests.clients.serving import PDF, Served
from tests.clients.test_docs import after, real, shown

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452")
ERRORS = "http://sendgrid.com/docs/API_Reference/Web_API_v3/Mail/errors.html"


@pytest.fixture
def client(site: Served) -> SendGridAPIClient:
    return SendGridAPIClient(site.keys.live, host=site.url)


def hello(to: Any = "to@example.com", **more: Any) -> Mail:
    words = {"subject": "Sending with Twilio SendGrid is Fun"} | more
    return Mail(
        from_email="from_email@example.com",
        to_emails=to,
        html_content=words.pop("html_content", "<strong>and easy to do anywhere</strong>"),
        **words,
    )


def raw(**more: Any) -> dict[str, Any]:
    """Give a body as it stands in the documentation."""
    return {
        "personalizations": [{"to": [{"email": "test@example.com"}], "subject": "Sending"}],
        "from": {"email": "test@example.com"},
        "content": [{"type": "text/plain", "value": "and easy to do anywhere"}],
    } | more


def refused(client: SendGridAPIClient, body: Any, kind: type[HTTPError]) -> list[dict[str, Any]]:
    """Give the errors that the library tells of."""
    with pytest.raises(kind) as caught:
        client.send(body)
    assert type(caught.value) is kind
    errors: list[dict[str, Any]] = caught.value.to_dict["errors"]
    assert all(set(one) == {"message", "field", "help"} for one in errors)
    return errors


def mails(site: Served, to: str) -> list[dict[str, Any]]:
    query = "SELECT id FROM mailqueue.email_queue WHERE recipient_email LIKE %s ORDER BY id"
    return [site.email(row[0]) for row in site.rows(query, to)]


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
        "SELECT extract(epoch FROM q.run_at)::int, q.campaign_id, c.dressing"
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
    assert refused(client, message, BadRequestsError)[0]["field"] == "personalizations.0.headers"


NO_FROM = "The from object must be provided for every email send."
HI = {"to": [{"email": "a@example.com"}], "subject": "x"}


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"from": None}, "from.email", NO_FROM),
        ({"from": {"name": "x"}}, "from.email", NO_FROM),
        ({"from": {"email": "nobody"}}, "from.email", "Does not contain a valid address."),
        ({"personalizations": None}, "personalizations", "The personalizations field is required"),
        ({"personalizations": []}, "personalizations", "The personalizations field is required"),
        ({"personalizations": [{}]}, "personalizations.0.to", "The to array is required"),
        ({"personalizations": [{"to": []}]}, "personalizations.0.to", "The to array is required"),
        (
            {"personalizations": [HI, {"to": [{"email": "a@example.com"}, {"email": "b"}]}]},
            "personalizations.1.to.1.email",
            "Does not contain a valid address.",
        ),
        (
            {"personalizations": [HI | {"cc": [{"name": "x"}]}]},
            "personalizations.0.cc.0.email",
            "Does not contain a valid address.",
        ),
        (
            {"personalizations": [HI | {"cc": [{"email": "A@example.com"}]}]},
            "personalizations.0",
            "Each email address in the personalization block should be unique between to, cc, and "
            "bcc. We found the first duplicate instance of [A@example.com] in the "
            "personalizations.0.cc field.",
        ),
        (
            {
                "personalizations": [
                    HI | {"cc": [{"email": f"p{n}@example.com"} for n in range(50)]}
                ]
            },
            "personalizations.0",
            "A personalization may have 50 recipients here, got 51.",
        ),
        (
            {"personalizations": [HI | {"cc": [{"email": f"p{n}@e.org"} for n in range(1000)]}]},
            "personalizations",
            "There is a limit of 1000 total recipients (to + cc + bcc) per request.",
        ),
        ({"personalizations": [{"to": HI["to"]}]}, "subject", "The subject is required."),
        ({"content": []}, "content", "Unless a valid template_id is provided"),
        (
            {"content": [{"type": "text/plain", "value": ""}]},
            "content.0.value",
            "The content value",
        ),
        ({"content": [{"type": "text/plain"}]}, "content.0.value", "The content value"),
        ({"content": [{"type": "text/calendar", "value": "x"}]}, "content.0.type", "Only text"),
        (
            {"content": [{"type": t, "value": "x"} for t in ("text/html", "text/plain")]},
            "content",
            "If present, text/plain must be first",
        ),
        ({"attachments": [{"filename": "a.pdf"}]}, "attachments.0.content", "The attachment"),
        ({"attachments": [{"content": "eA=="}]}, "attachments.0.filename", "The filename"),
        (
            {"attachments": [{"content": "no!", "filename": "a.pdf"}]},
            "attachments",
            "the content of",
        ),
        (
            {"attachments": [{"content": "TVo=", "filename": "a.exe"}]},
            "attachments",
            "application/x-msdos-program is not allowed in this project",
        ),
        (
            {"attachments": [{"content": "eA==", "filename": "a.pdf", "disposition": "inline"}]},
            "attachments.0.content_id",
            "An inline",
        ),
        ({"headers": {"To": "x"}}, "headers.To", "The header To is reserved."),
        ({"headers": {"X-A": 1}}, "headers.X-A", "The value must be a string."),
        ({"custom_args": {"a": 1}}, "custom_args.a", "The value must be a string."),
        ({"custom_args": {"a": "x" * 10_000}}, "personalizations.0.custom_args", "The total size"),
        ({"categories": [str(n) for n in range(11)]}, "categories", "There is a limit of 10"),
        ({"categories": ["a", "a"]}, "categories.1", "The categories must be unique."),
        ({"categories": ["x" * 129]}, "categories.0", "A category has"),
        ({"send_at": int(time.time()) + 73 * 3600}, "send_at", "Scheduling more than 72 hours"),
        ({"send_at": -1}, "send_at", "A unix timestamp"),
        ({"send_at": 10**18}, "send_at", "A unix timestamp"),
        ({"send_at": True}, "send_at", ""),
        (
            {"reply_to_list": [{"email": "a@e.org"}, {"email": "b"}]},
            "reply_to_list.1.email",
            "Does",
        ),
        (
            {"reply_to": {"email": "a@e.org"}, "reply_to_list": [{"email": "b@e.org"}]},
            "reply_to_list",
            "Give either",
        ),
        ({"ip_pool_name": "gone"}, "ip_pool_name", "this project has no sender account"),
        ({"asm": {"group_id": 1, "groups_to_display": [1]}}, "asm.groups_to_display", "Which"),
        ({"mail_settings": {"footer": {"enable": True}}}, "mail_settings.footer.enable", "This"),
        (
            {"mail_settings": {"bypass_list_management": {"enable": True}}},
            "mail_settings.bypass_list_management.enable",
            "This setting is not supported: suppressed",
        ),
        ({"mail_settings": {"magic": {}}}, "mail_settings.magic", "This parameter is not"),
        (
            {"tracking_settings": {"ganalytics": {"enable": True}}},
            "tracking_settings.ganalytics.enable",
            "This setting is not supported",
        ),
        ({"colour": "red"}, "colour", "This parameter is not supported"),
        (
            {"subject": "a\nb", "personalizations": [{"to": HI["to"]}]},
            "personalizations.0.subject",
            "",
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_is_refused_is_named_as_sendgrid_names_it(
    client: SendGridAPIClient, change: dict[str, Any], field: str, message: str
) -> None:
    errors = refused(client, raw(**change), BadRequestsError)

    assert field in [one["field"] for one in errors], errors
    (found,) = [one for one in errors if one["field"] == field]
    assert found["message"].startswith(message)
    assert found["help"].startswith(ERRORS)


def test_all_that_is_wrong_is_told_at_once(client: SendGridAPIClient) -> None:
    errors = refused(client, {"personalizations": [{"to": [{}]}], "colour": 1}, BadRequestsError)

    assert {one["field"] for one in errors} == {
        "personalizations.0.to.0.email",
        "from.email",
        "colour",
    }


def test_the_kitchen_sink_is_refused_by_the_names_of_what_we_cannot_do(
    client: SendGridAPIClient,
) -> None:
    message = hello()
    message.mail_settings = sg.MailSettings(
        bcc_settings=sg.BccSettings(False, sg.BccSettingsEmail("bcc@example.com")),
        bypass_list_management=sg.BypassListManagement(False),
        footer_settings=sg.FooterSettings(True, sg.FooterText("w"), sg.FooterHtml("<b>w</b>")),
        sandbox_mode=sg.SandBoxMode(True),
        spam_check=sg.SpamCheck(True, sg.SpamThreshold(5), sg.SpamUrl("https://example.com")),
    )
    message.tracking_settings = sg.TrackingSettings(
        sg.ClickTracking(True, True),
        sg.OpenTracking(True, sg.OpenTrackingSubstitutionTag("open_tracking")),
        sg.SubscriptionTracking(
            True,
            sg.SubscriptionText("Goodbye"),
            sg.SubscriptionHtml("<b>Goodbye</b>"),
            sg.SubscriptionSubstitutionTag("unsubscribe"),
        ),
        sg.Ganalytics(True, sg.UtmSource("utm_source")),
    )

    assert [one["field"] for one in refused(client, message, BadRequestsError)] == [
        "mail_settings.footer.enable",
        "mail_settings.spam_check.enable",
        "tracking_settings.ganalytics.enable",
        "tracking_settings.open_tracking.substitution_tag",
        "tracking_settings.subscription_tracking.substitution_tag",
        "tracking_settings.click_tracking.enable_text",
        "tracking_settings.subscription_tracking.text",
        "tracking_settings.subscription_tracking.html",
    ]


def test_nothing_is_accepted_where_one_personalization_is_refused(
    site: Served, client: SendGridAPIClient
) -> None:
    tag = uuid4().hex[:8]
    some = [
        {"to": [{"email": f"a-{tag}@example.com"}], "subject": "x"},
        {"to": [{"email": f"b-{tag}@example.com"}], "subject": "x", "headers": {"X y": "z"}},
    ]

    (error,) = refused(client, raw(personalizations=some), BadRequestsError)

    assert error["field"] == "personalizations.1.headers"
    assert mails(site, f"%-{tag}@example.com") == []


def test_keys_have_the_errors_of_the_library(site: Served) -> None:
    (unknown,) = refused(SendGridAPIClient("SG.unknown", host=site.url), hello(), UnauthorizedError)
    (reads,) = refused(SendGridAPIClient(site.keys.reads, host=site.url), hello(), ForbiddenError)
    subuser = SendGridAPIClient(site.keys.live, host=site.url, impersonate_subuser="ann")

    assert unknown == {
        "message": "The provided authorization grant is invalid, expired, or revoked",
        "field": None,
        "help": None,
    }
    assert "email:send" in reads["message"]
    assert "on-behalf-of" in refused(subuser, hello(), ForbiddenError)[0]["message"]


def test_a_sender_that_is_not_the_projects_is_forbidden(
    site: Served, client: SendGridAPIClient
) -> None:
    allowed = "UPDATE mailqueue.projects SET allowed_from = %s WHERE name = 'default' RETURNING id"
    site.rows(allowed, ["example.com"])
    try:
        (error,) = refused(client, raw(**{"from": {"email": "a@example.org"}}), ForbiddenError)
        assert client.send(raw()).status_code == 202
    finally:
        site.rows(allowed, None)

    assert error["field"] == "from"
    assert error["message"].startswith("The from address does not match a verified Sender Identity")


def test_a_test_key_sends_to_the_trap(site: Served) -> None:
    response = SendGridAPIClient(site.keys.test, host=site.url).send(hello())

    assert site.email(UUID(response.headers["X-Message-Id"]))["sender"] == "trap"


def test_what_comes_too_fast_is_told_when_to_come_again(site: Served) -> None:
    client = SendGridAPIClient(site.keys.slow, host=site.url)

    def many() -> None:
        for _ in range(60):
            client.send(hello())

    with pytest.raises(TooManyRequestsError) as caught:
        many()

    headers = caught.value.headers
    assert int(headers["X-RateLimit-Reset"]) >= int(time.time())
    assert (headers["X-RateLimit-Remaining"], int(headers["Retry-After"]) > 0) == ("0", True)


def test_what_is_no_such_request_is_refused_in_its_words(client: SendGridAPIClient) -> None:
    with pytest.raises(NotFoundError) as missing:
        client.client.mail.batch.post()
    with pytest.raises(NotFoundError) as other:
        client.client.suppression.bounces.get()
    with pytest.raises(MethodNotAllowedError):
        client.client.mail.send.get()
    with pytest.raises(BadRequestsError) as broken:
        client.client.mail.send.post(request_body="{")
    with pytest.raises(UnsupportedMediaTypeError):
        client.client.mail.send.post(
            request_body="--x", request_headers={"Content-Type": "multipart/form-data"}
        )
    for caught in (missing, other, broken):
        assert caught.value.to_dict["errors"][0]["field"] is None


def test_a_body_too_large_is_told_by_its_own_error(client: SendGridAPIClient) -> None:
    large = raw(content=[{"type": "text/plain", "value": "x" * (30 * 1024 * 1024)}])

    with pytest.raises(PayloadTooLargeError):
        client.client.mail.send.post(request_body=large)


def test_values_that_would_fill_the_memory_are_refused(client: SendGridAPIClient) -> None:
    grown = raw(
        personalizations=[
            HI | {"to": [{"email": f"p{n}@example.com"}], "substitutions": {"a": "x" * 9_000}}
            for n in range(10)
        ],
        content=[{"type": "text/plain", "value": "a" * 1_000_000}],
    )

    (error,) = refused(client, grown, BadRequestsError)

    assert (error["field"], "too large" in error["message"]) == ("content", True)


def test_an_idempotency_key_makes_it_happen_once(site: Served, client: SendGridAPIClient) -> None:
    tag = uuid4().hex
    body = raw(
        personalizations=[
            {"to": [{"email": f"{n}-{tag}@example.com"}], "subject": "x"} for n in range(2)
        ]
    )
    headers = {"Idempotency-Key": tag}

    first, again = (
        client.client.mail.send.post(request_body=body, request_headers=headers) for _ in range(2)
    )

    assert first.headers["X-Message-Id"] == again.headers["X-Message-Id"]
    assert len(mails(site, f"%-{tag}@example.com")) == 2
    with pytest.raises(BadRequestsError):
        client.client.mail.send.post(
            request_body=body | {"categories": ["other"]}, request_headers=headers
        )


@pytest.fixture
def anymail(site: Served) -> Iterator[Any]:
    """Django's backend of anymail for SendGrid, by URL."""
    import django
    from django.conf import settings
    from django.core import mail

    if not settings.configured:
        settings.configure(INSTALLED_APPS=["anymail"], ANYMAIL={}, USE_TZ=True)
        django.setup()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anymail tells that it no longer tests this backend
        yield mail.get_connection(
            "anymail.backends.sendgrid.EmailBackend",
            api_key=site.keys.live,
            api_url=f"{site.url}/v3/",
            merge_field_format="-{}-",
        )


def test_anymails_backend_sends(site: Served, anymail: Any) -> None:
    from anymail.exceptions import AnymailRequestsAPIError
    from anymail.message import AnymailMessage

    tag = uuid4().hex[:8]
    to = [f"ann-{tag}@example.com", f"bob-{tag}@example.com"]
    message = AnymailMessage(
        "Hi -name-", "Hello -name-", "shop@example.com", to, connection=anymail
    )
    message.attach_alternative("<b>-name-</b>", "text/html")
    message.attach("bill.pdf", PDF, "application/pdf")
    message.merge_data = {to[0]: {"name": "Ann"}, to[1]: {"name": "Bob"}}
    message.merge_metadata = {to[0]: {"order": 81}}
    message.metadata = {"shop": "x"}
    message.tags = ["news"]

    assert message.send() == 1

    ann, bob = mails(site, f"%-{tag}@example.com")
    assert (ann["subject"], bob["text"]) == ("Hi Ann", "Hello Bob")
    assert ann["custom_data"]["custom_args"]["order"] == "81"
    assert bob["tags"] == ["news"]
    assert message.anymail_status.status == {"queued"}
    message.headers = {"To": "x"}
    message.extra_headers = {"X-Ok": "1", "Received": "no"}
    with pytest.raises(AnymailRequestsAPIError) as caught:
        message.send()
    assert json.loads(caught.value.response.text)["errors"][0]["field"] == "headers.Received"


def test_python_on_the_page_sends(site: Served) -> None:
    site.add_template("order-confirmation", subject="Your order", html="<p>{{ product }}</p>")
    before = site.count()
    text = "\n".join(after(each) for each in shown("sendgrid", "diff", "python"))

    exec(compile(real(site, text), "sendgrid.md", "exec"), {})

    assert site.count() == before + 4
