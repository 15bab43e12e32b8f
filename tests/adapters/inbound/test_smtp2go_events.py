"""Each event that SMTP2GO documents is read as an event of ours."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mailqueue.adapters.inbound.smtp2go import Smtp2goEvents
from tests.adapters.inbound.signed_requests import MAIL, only

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


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

    found = only(Smtp2goEvents(), common | said)

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
        found = only(Smtp2goEvents(), body, **headers)

        assert (found.type, found.recipient) == ("hard_bounce", "ann@example.com")
        assert (found.email_id, found.event_id) == (UUID(MAIL), "wh-0002")
