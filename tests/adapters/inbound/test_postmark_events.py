"""Each event that Postmark documents is read as an event of ours."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mailqueue.adapters.inbound.postmark import PostmarkEvents
from mailqueue.ports.inbound import ProviderEvent
from tests.adapters.inbound.signed_requests import MAIL, only

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def of_postmark(record: str, **said: Any) -> ProviderEvent:
    common = {
        "RecordType": record,
        "MessageID": "11111111-2222-3333-4444-555555555555",
        "Metadata": {"mailqueue_id": MAIL},
        "MessageStream": "outbound",
    }
    return only(PostmarkEvents(), common | said)


BOUNCES = [
    ("HardBounce", "hard_bounce", "hard_bounce"),
    ("BadEmailAddress", "hard_bounce", "hard_bounce"),
    ("SpamComplaint", "complaint", "complaint"),
    ("SpamNotification", "soft_bounce", "manual"),
    ("Transient", "deferred", "manual"),
    ("SoftBounce", "soft_bounce", "manual"),
    ("DnsError", "soft_bounce", "manual"),
    ("Blocked", "soft_bounce", "manual"),
    ("DMARCPolicy", "soft_bounce", "manual"),
    ("VirusNotification", "failed", "manual"),
    ("Unknown", "soft_bounce", "manual"),
    ("AutoResponder", None, "manual"),
    ("AddressChange", None, "manual"),
    ("ChallengeVerification", None, "manual"),
    ("OpenRelayTest", None, "manual"),
    ("Unsubscribe", "unsubscribed", "unsubscribed"),
    ("Subscribe", "resubscribed", "manual"),
    ("Unconfirmed", "failed", "manual"),
    ("SMTPApiError", "failed", "manual"),
    ("InboundError", None, "manual"),
    ("TemplateRenderingFailed", "failed", "manual"),
    ("Invented", "soft_bounce", "manual"),
]


@pytest.mark.parametrize(("group", "what", "suppress"), BOUNCES)
def test_bounces_of_postmark(group: str, what: str | None, suppress: str) -> None:
    said = {
        "ID": 4300000001,
        "Type": group,
        "TypeCode": 1,
        "Description": "d",
        "Details": "smtp;550 5.1.1 user unknown",
        "Email": "ann@example.com",
        "BouncedAt": "2026-01-02T03:04:05.0000000Z",
    }

    found = of_postmark("Bounce", **said, Inactive=False)
    silenced = of_postmark("Bounce", **said, Inactive=True)

    assert (found.type, found.suppress) == (what, None)
    assert (silenced.type, silenced.suppress) == (what, suppress)
    assert (found.event_id, found.recipient) == ("Bounce:4300000001", "ann@example.com")
    assert (found.email_id, found.occurred_at) == (UUID(MAIL), AT)
    assert found.detail == "smtp;550 5.1.1 user unknown"


def test_an_address_that_was_deactivated_is_written_to_no_more() -> None:
    found = of_postmark("Bounce", ID=1, Type="ManuallyDeactivated", Email="ann@example.com")

    assert (found.type, found.suppress) == ("failed", "manual")


@pytest.mark.parametrize(
    ("record", "said", "what", "suppress"),
    [
        ("Delivery", {"DeliveredAt": "2026-01-02T03:04:05Z"}, "delivered", None),
        ("SpamComplaint", {"ID": 2, "Type": "SpamComplaint", "Inactive": True}, "complaint",
         "complaint"),
        ("Open", {"ReceivedAt": "2026-01-02T03:04:05+00:00", "FirstOpen": True}, "opened", None),
        ("Click", {"OriginalLink": "https://example.com/"}, "clicked", None),
        ("SubscriptionChange", {"SuppressSending": True, "SuppressionReason": "ManualSuppression"},
         "unsubscribed", "unsubscribed"),
        ("SubscriptionChange", {"SuppressSending": True, "SuppressionReason": None},
         "unsubscribed", "unsubscribed"),
        ("SubscriptionChange", {"SuppressSending": True, "SuppressionReason": "HardBounce"},
         "hard_bounce", "hard_bounce"),
        ("SubscriptionChange", {"SuppressSending": True, "SuppressionReason": "SpamComplaint"},
         "complaint", "complaint"),
        ("SubscriptionChange", {"SuppressSending": False}, "resubscribed", None),
        ("SubscriptionChange", {"SuppressSending": "odd"}, None, None),
        ("SMTPApiError", {}, "failed", None),
        ("Telepathy", {}, None, None),
    ],
)  # fmt: skip
def test_postmark(record: str, said: dict[str, Any], what: str | None, suppress: str) -> None:
    found = of_postmark(record, Recipient="ann@example.com", **said)

    assert (found.type, found.suppress) == (what, suppress)
    assert (found.recipient, found.kind) == ("ann@example.com", record)


def test_events_of_postmark_without_a_number_differ_by_what_they_say() -> None:
    first = of_postmark("Open", Recipient="a@example.com", ReceivedAt="2026-01-02T03:04:05Z")
    again = of_postmark("Open", Recipient="a@example.com", ReceivedAt="2026-01-02T03:04:05Z")
    later = of_postmark("Open", Recipient="a@example.com", ReceivedAt="2026-01-02T03:04:06Z")
    other = of_postmark("Open", Recipient="b@example.com", ReceivedAt="2026-01-02T03:04:05Z")

    assert first.event_id == again.event_id
    assert len({first.event_id, later.event_id, other.event_id}) == 3
