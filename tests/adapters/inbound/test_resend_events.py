"""Each event that Resend documents is read as an event of ours."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from mailqueue.adapters.inbound.resend import ResendEvents
from mailqueue.ports.inbound import ProviderEvent
from tests.adapters.inbound.signed_requests import MAIL, only

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def of_resend(kind: str, **data: Any) -> ProviderEvent:
    common = {
        "created_at": "2026-01-02T03:04:00.000Z",
        "email_id": "11111111-2222-3333-4444-555555555555",
        "from": "sender@example.com",
        "to": ["Ann <ann@example.com>"],
        "tags": {"mailqueue_id": MAIL},
    }
    said = {"type": kind, "created_at": "2026-01-02T03:04:05.000Z", "data": common | data}
    return only(ResendEvents(), said, svix_id="msg_1")


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


def test_a_resend_event_of_several_recipients_names_none() -> None:
    found = of_resend(
        "email.bounced", to=["ann@example.com", "bob@example.com"], bounce={"type": "Permanent"}
    )

    assert (found.type, found.recipient) == ("hard_bounce", None)


def test_a_resend_event_of_a_mail_with_copies_names_none() -> None:
    for field in ("cc", "bcc"):
        found = of_resend("email.bounced", to=["ann@example.com"], **{field: ["bob@example.com"]})

        assert found.recipient is None


def test_resend_gives_tags_as_a_list_too() -> None:
    tags = [{"name": "mailqueue_id", "value": MAIL}, {"name": "category", "value": "x"}]

    assert of_resend("email.sent", tags=tags).email_id == UUID(MAIL)
