"""Each event that SendGrid documents is read as an event of ours."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mailqueue.adapters.inbound.sendgrid import SendGridEvents
from mailqueue.ports.inbound import ProviderEvent
from tests.adapters.inbound.signed_requests import MAIL, only, request

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


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

    found = only(SendGridEvents(), [common | said])

    assert (found.type, found.kind, found.suppress) == (what, said["event"], suppress)
    assert (found.event_id, found.provider_message_id) == ("ZXZ0LTAwMDI", "msg-0002")
    assert (found.email_id, found.recipient) == (UUID(MAIL), "ann@example.com")
    assert found.occurred_at == AT


def test_sendgrid_says_which_opens_are_of_machines() -> None:
    found = only(
        SendGridEvents(), [{"event": "open", "sg_machine_open": True, "ip": "2001:db8:1:2::3"}]
    )

    assert found.data == {"is_machine": True, "ip": "2001:db8:1::/48"}


def test_a_batch_is_as_many_events() -> None:
    told = [{"event": "open", "sg_event_id": str(n)} for n in range(1000)]

    found = SendGridEvents().events(request(told))

    assert [one.event_id for one in found if isinstance(one, ProviderEvent)] == [
        str(n) for n in range(1000)
    ]
