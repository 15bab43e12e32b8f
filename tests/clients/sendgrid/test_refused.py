"""Errors of SendGrid's API name the path of the field that is invalid or unsupported."""

import time
from typing import Any
from uuid import uuid4

import pytest
from python_http_client.exceptions import (
    BadRequestsError,
)
from sendgrid import SendGridAPIClient
from sendgrid.helpers import mail as sg

from tests.clients.sendgrid.mails import ERRORS, hello, mails, raw, refused
from tests.clients.serving import Served


@pytest.fixture
def client(site: Served) -> SendGridAPIClient:
    return SendGridAPIClient(site.keys.live, host=site.url)


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
            {"personalizations": [HI | {"to": [{"email": "b@e.org"}, {"email": "B@e.org"}]}]},
            "personalizations.0",
            "Each email address in the personalization block should be unique between to, cc, and "
            "bcc. We found the first duplicate instance of [B@e.org] in the "
            "personalizations.0.to field.",
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
        (
            {"asm": {"group_id": 1, "groups_to_display": [1]}},
            "asm.groups_to_display",
            "The categories shown",
        ),
        ({"mail_settings": {"footer": {"enable": True}}}, "mail_settings.footer.enable", "This"),
        (
            {"mail_settings": {"bypass_list_management": {"enable": True}}},
            "mail_settings.bypass_list_management.enable",
            "This setting is not supported: mail is never sent to suppressed",
        ),
        ({"mail_settings": {"magic": {}}}, "mail_settings.magic", "This parameter is not"),
        (
            {"tracking_settings": {"ganalytics": {"enable": True}}},
            "tracking_settings.ganalytics.enable",
            "This setting is not supported",
        ),
        ({"colour": "red"}, "colour", "This parameter is not supported"),
        (
            {"personalizations": [HI | {"subject": "a\nb"}], "subject": "x"},
            "personalizations.0.subject",
            "",
        ),
        ({"subject": "a\nb", "personalizations": [{"to": HI["to"]}]}, "subject", ""),
        ({"headers": {"X A": "b"}}, "headers", '"X A" is not a header name'),
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


@pytest.mark.parametrize("field", ["headers", "custom_args"])
def test_what_all_personalizations_share_is_not_counted_for_each(
    client: SendGridAPIClient, field: str
) -> None:
    """A thousand mails with fifteen thousand names each are refused at once."""
    shared = {f"x-{n}": "y" for n in range(15_000)}
    to = [{"to": [{"email": f"a{n}@example.com"}], "subject": "x"} for n in range(1_000)]

    errors = refused(client, raw(personalizations=to, **{field: shared}), BadRequestsError)

    assert errors[0]["field"] == field
