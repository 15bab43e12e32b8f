"""What providers tell, row by row of what they publish, is what happened in our words."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mailqueue.adapters.inbound.mailgun import Mailgun
from mailqueue.adapters.inbound.postmark import Postmark
from mailqueue.adapters.inbound.resend import Resend
from mailqueue.adapters.inbound.sendgrid import SendGrid
from mailqueue.adapters.inbound.smtp2go import Smtp2go
from mailqueue.ports.inbound import ProviderEvent
from tests.adapters.inbound.telling import MAIL, only, request

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


# SendGrid


@pytest.mark.parametrize(
    ("said", "what", "suppress"),
    [
        ({"event": "processed"}, "sent", None),
        ({"event": "deferred", "response": "400 later", "attempt": "5"}, "deferred", None),
        ({"event": "delivered", "response": "250 OK", "ip": "192.0.2.1"}, "delivered", None),
        ({"event": "bounce", "type": "bounce", "status": "5.1.1"}, "hard_bounce", None),
        ({"event": "bounce", "status": "5.1.1"}, "hard_bounce", None),
        ({"event": "bounce", "type": "blocked", "status": "5.7.1"}, "soft_bounce", None),
        ({"event": "blocked"}, "soft_bounce", None),
        ({"event": "dropped", "reason": "Bounced Address"}, "failed", "hard_bounce"),
        ({"event": "dropped", "reason": "Unsubscribed Address"}, "failed", "unsubscribed"),
        ({"event": "dropped", "reason": "Spam Reporting Address"}, "failed", "complaint"),
        ({"event": "dropped", "reason": "Invalid"}, "failed", "hard_bounce"),
        ({"event": "dropped", "reason": "Spam Content"}, "failed", None),
        ({"event": "dropped", "reason": "Invalid SMTPAPI header"}, "failed", None),
        ({"event": "open", "useragent": "UA", "ip": "192.0.2.1"}, "opened", None),
        ({"event": "click", "url": "https://example.com/"}, "clicked", None),
        ({"event": "spamreport"}, "complaint", None),
        ({"event": "unsubscribe"}, "unsubscribed", None),
        ({"event": "group_unsubscribe", "asm_group_id": 10}, "unsubscribed", None),
        ({"event": "group_resubscribe", "asm_group_id": 10}, "resubscribed", None),
        ({"event": "teleported"}, None, None),
    ],
)
def test_sendgrid(said: dict[str, Any], what: str | None, suppress: str | None) -> None:
    common = {
        "email": "ann@example.com",
        "timestamp": 1767323045,
        "smtp-id": "<aaaa@geopod.example.com>",
        "sg_event_id": "ZXZ0LTAwMDI",
        "sg_message_id": "msg-0002.filter0001.1.AAAA.0",
        "mailqueue_id": MAIL,
        "category": ["welcome"],
    }

    found = only(SendGrid(), [common | said])

    assert (found.type, found.kind, found.suppress) == (what, said["event"], suppress)
    assert (found.event_id, found.provider_message_id) == ("ZXZ0LTAwMDI", "msg-0002")
    assert (found.email_id, found.recipient) == (UUID(MAIL), "ann@example.com")
    assert found.occurred_at == AT


def test_sendgrid_says_which_opens_are_of_machines() -> None:
    found = only(SendGrid(), [{"event": "open", "sg_machine_open": True, "ip": "2001:db8:1:2::3"}])

    assert found.data == {"is_machine": True, "ip": "2001:db8:1::/48"}


# Mailgun


def of_mailgun(**said: Any) -> ProviderEvent:
    common = {
        "id": "evt-0001",
        "timestamp": 1767323045.5,
        "recipient": "ann@example.com",
        "message": {"headers": {"message-id": "20260102.1.aaaa@mg.example.com"}, "size": 512},
        "user-variables": {"mailqueue_id": MAIL},
    }
    return only(Mailgun(), {"signature": {}, "event-data": common | said})


def failed(code: int, message: str = "", **said: Any) -> ProviderEvent:
    status = {"code": code, "message": message} | said.pop("status", {})
    return of_mailgun(
        **({"event": "failed", "severity": "permanent", "reason": "bounce"} | said),
        **{"delivery-status": status},
    )


@pytest.mark.parametrize(
    ("event", "what"),
    [
        ("accepted", "sent"),
        ("stored", "sent"),
        ("delivered", "delivered"),
        ("rejected", "failed"),
        ("opened", "opened"),
        ("clicked", "clicked"),
        ("complained", "complaint"),
        ("unsubscribed", "unsubscribed"),
        ("list_member_uploaded", None),
    ],
)
def test_mailgun(event: str, what: str | None) -> None:
    found = of_mailgun(event=event)

    assert (found.type, found.kind) == (what, event)
    assert found.event_id == "2026-01-02:evt-0001"
    assert found.message_id == found.provider_message_id == "<20260102.1.aaaa@mg.example.com>"
    assert (found.email_id, found.recipient) == (UUID(MAIL), "ann@example.com")


@pytest.mark.parametrize(
    ("found", "what", "suppress"),
    [
        (failed(451, "4.7.1 try again later", severity="temporary"), "deferred", None),
        (failed(550, "x", severity="temporary"), "deferred", None),
        (failed(0, reason="suppress-bounce"), "failed", "hard_bounce"),
        (failed(0, reason="suppress-complaint"), "failed", "complaint"),
        (failed(0, reason="suppress-unsubscribe"), "failed", "unsubscribed"),
        (failed(605, "Not delivering to previously bounced address"), "failed", "hard_bounce"),
        (failed(607, "Not delivering to a user who marked it as spam"), "failed", "complaint"),
        (failed(620, "new"), "failed", None),
        (failed(550, "5.1.1 user unknown"), "hard_bounce", None),
        (failed(550, "x", status={"enhanced-code": "5.1.1"}), "hard_bounce", None),
        (
            failed(550, "x", reason="generic", status={"enhanced-code": "5.1.2"}),
            "hard_bounce",
            None,
        ),
        (failed(550, "No such user here"), "hard_bounce", None),
        (failed(550, "5.0.0 <x> User unknown"), "hard_bounce", None),
        (failed(553, "mailbox not found", reason="delayed-bounce"), "hard_bounce", None),
        (failed(550, "5.7.1 blocked by policy, user unknown"), "soft_bounce", None),
        (failed(550, "blocked as spam: no such user"), "soft_bounce", None),
        (failed(552, "5.2.2 mailbox full"), "soft_bounce", None),
        (failed(552, "5.3.4 message too big"), "soft_bounce", None),
        (failed(554, "No such user here"), "soft_bounce", None),
        (failed(550, "rejected"), "soft_bounce", None),
        (failed(421, "Too old", reason="old"), "soft_bounce", None),
        (failed(498, "No MX for example.com"), "soft_bounce", None),
        (failed(499, "cannot connect"), "soft_bounce", None),
    ],
)
def test_failures_of_mailgun(found: ProviderEvent, what: str, suppress: str | None) -> None:
    assert (found.type, found.suppress) == (what, suppress)


def test_mailgun_trying_its_webhook_is_nothing_that_happened() -> None:
    assert of_mailgun(event="complained", flags={"is-test-mode": True}).type is None


# Postmark


def of_postmark(record: str, **said: Any) -> ProviderEvent:
    common = {
        "RecordType": record,
        "MessageID": "11111111-2222-3333-4444-555555555555",
        "Metadata": {"mailqueue_id": MAIL},
        "MessageStream": "outbound",
    }
    return only(Postmark(), common | said)


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


# Resend


def of_resend(kind: str, **data: Any) -> ProviderEvent:
    common = {
        "created_at": "2026-01-02T03:04:00.000Z",
        "email_id": "11111111-2222-3333-4444-555555555555",
        "from": "sender@example.com",
        "to": ["Ann <ann@example.com>"],
        "tags": {"mailqueue_id": MAIL},
    }
    said = {"type": kind, "created_at": "2026-01-02T03:04:05.000Z", "data": common | data}
    return only(Resend(), said, svix_id="msg_1")


@pytest.mark.parametrize(
    ("kind", "data", "what", "suppress"),
    [
        ("email.scheduled", {}, "sent", None),
        ("email.sent", {}, "sent", None),
        ("email.delivered", {}, "delivered", None),
        ("email.delivery_delayed", {}, "deferred", None),
        ("email.bounced", {"bounce": {"type": "Permanent", "subType": "General"}}, "hard_bounce",
         None),
        ("email.bounced", {"bounce": {"type": "Permanent", "subType": "Suppressed"}}, "failed",
         "hard_bounce"),
        ("email.bounced", {"bounce": {"type": "Transient", "subType": "MailboxFull"}},
         "soft_bounce", None),
        ("email.bounced", {"bounce": {"type": "Undetermined"}}, "soft_bounce", None),
        ("email.bounced", {"bounce": {"message": "sent a hard bounce message, but"}},
         "hard_bounce", None),
        ("email.bounced", {}, "soft_bounce", None),
        ("email.suppressed", {"suppressed": {"type": "x", "message": "earlier bounce"}}, "failed",
         "hard_bounce"),
        ("email.suppressed", {"suppressed": {"message": "earlier complaint"}}, "failed",
         "complaint"),
        ("email.suppressed", {}, "failed", "manual"),
        ("email.failed", {"failed": {"reason": "reached_daily_quota"}}, "failed", None),
        ("email.complained", {}, "complaint", None),
        ("email.opened", {}, "opened", None),
        ("email.clicked", {"click": {"link": "https://example.com/"}}, "clicked", None),
        ("suppression.added", {"email": "ann@example.com", "origin": "bounce"}, None,
         "hard_bounce"),
        ("suppression.removed", {"email": "ann@example.com"}, None, None),
        ("email.received", {}, None, None),
        ("contact.created", {}, None, None),
        ("domain.updated", {}, None, None),
    ],
)  # fmt: skip
def test_resend(kind: str, data: dict[str, Any], what: str | None, suppress: str | None) -> None:
    found = of_resend(kind, **data)

    assert (found.type, found.suppress, found.kind) == (what, suppress, kind)
    assert (found.event_id, found.email_id, found.recipient) == (
        "msg_1", UUID(MAIL), "ann@example.com"
    )  # fmt: skip
    assert found.occurred_at == AT


def test_resend_naming_several_names_nobody() -> None:
    found = of_resend(
        "email.bounced", to=["ann@example.com", "bob@example.com"], bounce={"type": "Permanent"}
    )

    assert (found.type, found.recipient) == ("hard_bounce", None)


def test_resend_gives_tags_as_a_list_too() -> None:
    tags = [{"name": "mailqueue_id", "value": MAIL}, {"name": "category", "value": "x"}]

    assert of_resend("email.sent", tags=tags).email_id == UUID(MAIL)


# SMTP2GO


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ({"event": "processed", "rcpt": None, "recipients": ["ann@example.com"]}, "sent"),
        ({"event": "delivered"}, "delivered"),
        ({"event": "bounce", "bounce": "hard"}, "hard_bounce"),
        ({"event": "bounce", "bounce": "soft"}, "soft_bounce"),
        ({"event": "bounce"}, "soft_bounce"),
        ({"event": "reject"}, "failed"),
        ({"event": "spam"}, "complaint"),
        ({"event": "unsubscribe"}, "unsubscribed"),
        ({"event": "resubscribe"}, "resubscribed"),
        ({"event": "open"}, "opened"),
        ({"event": "click", "link": "https://example.com/"}, "clicked"),
        ({"event": "levitate"}, None),
    ],
)
def test_smtp2go(said: dict[str, Any], what: str | None) -> None:
    common = {
        "time": "2026-01-02T03:04:05Z",
        "rcpt": "ann@example.com",
        "message": "550 5.1.1 user unknown",
        "email_id": "1aBcDe-0000000001-AA",
        "id": "wh-0001",
        "message-id": "<m_1@example.com>",
        "X-Mailqueue-Id": MAIL,
    }

    found = only(Smtp2go(), common | said)

    assert found.type == what
    assert (found.event_id, found.provider_message_id) == ("wh-0001", "1aBcDe-0000000001-AA")
    assert (found.email_id, found.recipient) == (UUID(MAIL), "ann@example.com")
    assert (found.message_id, found.occurred_at) == ("<m_1@example.com>", AT)


def test_smtp2go_tells_by_form_as_well() -> None:
    body = (
        b"event=bounce&bounce=hard&time=2026-01-02T03%3A04%3A05Z&rcpt=ann%40example.com"
        b"&email_id=1aBcDe-0000000002-AA&id=wh-0002&x-mailqueue-id=" + MAIL.encode()
    )
    for headers in ({"content_type": "application/x-www-form-urlencoded"}, {}):
        found = only(Smtp2go(), body, **headers)

        assert (found.type, found.recipient) == ("hard_bounce", "ann@example.com")
        assert (found.email_id, found.event_id) == (UUID(MAIL), "wh-0002")


def test_a_batch_is_as_many_events() -> None:
    told = [{"event": "open", "sg_event_id": str(n)} for n in range(1000)]

    found = SendGrid().events(request(told))

    assert [one.event_id for one in found if isinstance(one, ProviderEvent)] == [
        str(n) for n in range(1000)
    ]
