"""Each event that Mailgun documents is read as an event of ours."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mailqueue.adapters.inbound.mailgun import MailgunEvents
from mailqueue.ports.inbound import ProviderEvent
from tests.adapters.inbound.signed_requests import MAIL, only

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def of_mailgun(**said: Any) -> ProviderEvent:
    common = {
        "id": "evt-0001",
        "timestamp": 1767323045.5,
        "recipient": "ann@example.com",
        "message": {"headers": {"message-id": "20260102.1.aaaa@mg.example.com"}, "size": 512},
        "user-variables": {"mailqueue_id": MAIL},
    }
    return only(MailgunEvents(), {"signature": {}, "event-data": common | said})


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
