"""Each event that SparkPost documents is read as an event of ours."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from mailqueue.adapters.inbound.sparkpost import Sparkpost  # type: ignore[import-not-found]

from mailqueue.ports.inbound import NotVerified, VerificationSecrets, Verified
from tests.adapters.inbound.signed_requests import MAIL, NOW, only, request

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("group", "said", "what"),
    [
        ("message_event", {"type": "injection"}, "sent"),
        ("message_event", {"type": "delivery"}, "delivered"),
        ("message_event", {"type": "delay"}, "deferred"),
        ("message_event", {"type": "bounce", "bounce_class": "10"}, "hard_bounce"),
        ("message_event", {"type": "bounce", "bounce_class": "22"}, "soft_bounce"),
        ("message_event", {"type": "out_of_band", "bounce_class": "30"}, "hard_bounce"),
        ("message_event", {"type": "spam_complaint"}, "complaint"),
        ("message_event", {"type": "policy_rejection"}, "failed"),
        ("gen_event", {"type": "generation_failure"}, "failed"),
        ("track_event", {"type": "open"}, "opened"),
        ("track_event", {"type": "click", "target_link_url": "https://example.com/"}, "clicked"),
        ("unsubscribe_event", {"type": "list_unsubscribe"}, "unsubscribed"),
        ("message_event", {"type": "levitate"}, None),
    ],
)
def test_each_event(group: str, said: dict[str, Any], what: str | None) -> None:
    common = {
        "event_id": "92356927693813856",
        "transmission_id": "65832150921904138",
        "rcpt_to": "ann@example.com",
        "rcpt_meta": {"mailqueue_id": MAIL},
        "timestamp": "1767323045",
        "raw_reason": "550 5.1.1 user unknown",
    }

    found = only(Sparkpost(), [{"msys": {group: common | said}}])

    assert found.type == what
    assert (found.email_id, found.recipient) == (UUID(MAIL), "ann@example.com")
    assert (found.event_id, found.provider_message_id) == ("92356927693813856", "65832150921904138")
    assert found.occurred_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


async def test_it_is_proved_by_a_secret() -> None:
    told = request(b"[]", x_mailqueue_secret="right", x_messagesystems_batch_id="batch-1")

    assert await Sparkpost().verify(told, VerificationSecrets(signing=("right",)), NOW) == Verified(
        "batch-1"
    )
    refused = await Sparkpost().verify(told, VerificationSecrets(signing=("wrong",)), NOW)
    assert isinstance(refused, NotVerified)
