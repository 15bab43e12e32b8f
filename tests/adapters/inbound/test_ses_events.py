"""Each kind of SES event is read as events of its recipients."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mailqueue.adapters.inbound.ses import SesEvents
from mailqueue.ports.inbound import ProviderEvent
from tests.adapters.inbound.signed_requests import MAIL, request

AT = "2026-01-02T03:04:06.000Z"
MAIL_SAID = {
    "timestamp": "2026-01-02T03:04:05.000Z",
    "messageId": "0100019400000001-aaaa",
    "source": "sender@example.com",
    "destination": ["ann@example.com"],
    "tags": {"mailqueue_id": [MAIL], "ses:configuration-set": ["events"]},
}


async def _never(_url: str) -> bytes | None:
    raise AssertionError


def events(message: Any, **mail: Any) -> list[ProviderEvent]:
    inner = (
        message if isinstance(message, str) else json.dumps({"mail": MAIL_SAID | mail} | message)
    )
    envelope = {"Type": "Notification", "MessageId": "sns-1", "Message": inner + "\n"}
    found = SesEvents(_never).events(request(envelope))
    assert all(isinstance(one, ProviderEvent) for one in found), found
    return [one for one in found if isinstance(one, ProviderEvent)]


def bounce(group: str, sub: str, *recipients: str, key: str = "eventType") -> dict[str, Any]:
    bounced = [
        {
            "emailAddress": one,
            "action": "failed",
            "status": "5.1.1",
            "diagnosticCode": "smtp; 550 x",
        }
        for one in recipients or ("ann@example.com",)
    ]
    body = {
        "bounceType": group,
        "bounceSubType": sub,
        "bouncedRecipients": bounced,
        "timestamp": AT,
        "feedbackId": "fb-1",
    }
    return {key: "Bounce", "bounce": body}


@pytest.mark.parametrize(
    ("group", "sub", "what", "suppress"),
    [
        ("Permanent", "General", "hard_bounce", None),
        ("Permanent", "NoEmail", "hard_bounce", None),
        ("Permanent", "Suppressed", "failed", "hard_bounce"),
        ("Permanent", "OnAccountSuppressionList", "failed", "hard_bounce"),
        ("Permanent", "OnTenantSuppressionList", "failed", "hard_bounce"),
        ("Permanent", "EmailValidationSuppressed", "failed", "hard_bounce"),
        ("Permanent", "UnsubscribedRecipient", "failed", "unsubscribed"),
        ("Transient", "General", "soft_bounce", None),
        ("Transient", "MailboxFull", "soft_bounce", None),
        ("Transient", "MessageTooLarge", "soft_bounce", None),
        ("Transient", "ContentRejected", "soft_bounce", None),
        ("Transient", "AttachmentRejected", "soft_bounce", None),
        ("Transient", "CustomTimeoutExceeded", "soft_bounce", None),
        ("Undetermined", "Undetermined", "soft_bounce", None),
        ("New", "New", "soft_bounce", None),
    ],
)
@pytest.mark.parametrize("key", ["eventType", "notificationType"])
def test_bounces(group: str, sub: str, what: str, suppress: str | None, key: str) -> None:
    [found] = events(bounce(group, sub, key=key))

    assert (found.type, found.suppress) == (what, suppress)
    assert (found.recipient, found.code) == ("ann@example.com", "5.1.1")
    assert found.detail == "smtp; 550 x"
    assert found.email_id == UUID(MAIL)
    assert found.provider_message_id == "0100019400000001-aaaa"
    assert found.event_id == "sns-1"
    assert found.occurred_at == datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)


def test_each_recipient_of_a_bounce_is_an_event_of_its_own() -> None:
    found = events(bounce("Permanent", "General", "ann@example.com", "bob@example.com"))

    assert [(one.recipient, one.event_id) for one in found] == [
        ("ann@example.com", "sns-1:0"),
        ("bob@example.com", "sns-1:1"),
    ]


@pytest.mark.parametrize(
    ("kind", "key", "body", "what"),
    [
        ("Send", "send", {}, "sent"),
        ("Delivery", "delivery", {"recipients": ["ann@example.com"], "timestamp": AT}, "delivered"),
        ("Reject", "reject", {"reason": "Bad content"}, "failed"),
        ("Open", "open", {"ipAddress": "192.0.2.77", "userAgent": "UA", "timestamp": AT}, "opened"),
        ("Click", "click", {"link": "https://example.com/", "timestamp": AT}, "clicked"),
        ("Rendering Failure", "failure", {"errorMessage": "no x", "templateName": "t"}, "failed"),
        (
            "DeliveryDelay",
            "deliveryDelay",
            {
                "delayType": "MailboxFull",
                "delayedRecipients": [{"emailAddress": "ann@example.com"}],
            },
            "deferred",
        ),
        (
            "Subscription",
            "subscription",
            {"newTopicPreferences": {"unsubscribeAll": True}},
            "unsubscribed",
        ),
    ],
)
def test_other_kinds(kind: str, key: str, body: dict[str, Any], what: str) -> None:
    [found] = events({"eventType": kind, key: body})

    assert (found.type, found.kind, found.recipient) == (what, kind, "ann@example.com")


def test_opens_and_clicks_say_how_without_the_address() -> None:
    visit = {"ipAddress": "192.0.2.77", "userAgent": "UA", "timestamp": AT}

    [opened] = events({"eventType": "Open", "open": visit})
    link = "https://example.com/?a=1"
    [clicked] = events({"eventType": "Click", "click": visit | {"link": link}})

    assert opened.data == {"ip": "192.0.2.0/24", "user_agent": "UA"}
    assert clicked.data["url"] == link


@pytest.mark.parametrize(
    ("topics", "what"),
    [
        ([{"topicName": "a", "subscriptionStatus": "OptOut"}], "unsubscribed"),
        ([{"subscriptionStatus": "OptOut"}, {"subscriptionStatus": "OptIn"}], None),
        ([], None),
        ("odd", None),
    ],
)
def test_who_left_every_topic_has_unsubscribed(topics: Any, what: str | None) -> None:
    chosen = {"unsubscribeAll": False, "topicSubscriptionStatus": topics}

    [found] = events({"eventType": "Subscription", "subscription": {"newTopicPreferences": chosen}})

    assert found.type == what


@pytest.mark.parametrize(
    ("more", "recipients", "what", "who"),
    [
        ({}, ["ann@example.com"], "complaint", "ann@example.com"),
        ({"complaintFeedbackType": "abuse"}, ["ann@example.com"], "complaint", "ann@example.com"),
        ({"complaintFeedbackType": "not-spam"}, ["ann@example.com"], None, None),
        ({}, ["ann@example.com", "bob@example.com"], "complaint", None),
    ],
)
def test_complaints(
    more: dict[str, str], recipients: list[str], what: str | None, who: str | None
) -> None:
    named = [{"emailAddress": one} for one in recipients]

    [found] = events(
        {"eventType": "Complaint", "complaint": {"complainedRecipients": named} | more}
    )

    assert (found.type, found.recipient) == (what, who)


def test_a_complaint_of_before_is_a_refusal_to_send() -> None:
    body = {
        "complainedRecipients": [{"emailAddress": "ann@example.com"}],
        "complaintSubType": "OnAccountSuppressionList",
    }

    [found] = events({"eventType": "Complaint", "complaint": body})

    assert (found.type, found.suppress) == ("failed", "complaint")


def test_without_our_tag_it_is_known_by_our_header_and_by_theirs() -> None:
    headers = [
        {"name": "X-Mailqueue-Id", "value": MAIL},
        {"name": "Message-ID", "value": "<x@example.com>"},
    ]

    [found] = events(bounce("Permanent", "General"), tags={}, headers=headers)

    assert found.email_id == UUID(MAIL)
    assert found.message_id == "<x@example.com>"


def test_what_is_new_or_no_event_is_kept_by_its_name() -> None:
    [new] = events({"eventType": "Teleport", "teleport": {}})
    [text] = events("Successfully validated SNS topic for Amazon SES event publishing.")
    [succeeded] = events({"notificationType": "AmazonSnsSubscriptionSucceeded", "message": "ok"})

    assert (new.type, new.kind) == (None, "Teleport")
    assert (text.type, text.kind) == (None, "text")
    assert (succeeded.type, succeeded.kind) == (None, "AmazonSnsSubscriptionSucceeded")
