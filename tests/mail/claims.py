"""Claimed mails and their contents as values, for tests without a database."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

from mailqueue.core.address import Mailbox, parse_address
from mailqueue.mail.model import ClaimedEmail, EmailContent, EmailRecipient, LoadedEmail
from mailqueue.ports.transport import Envelope, SendAttempt

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SENDER = Mailbox("Shop", parse_address("shop@example.com"))


def claimed(**changes: Any) -> ClaimedEmail:
    values: dict[str, Any] = {
        "id": uuid4(),
        "claim_no": 7,
        "assigned_to": 1,
        "account_revision": 1,
        "project_id": uuid4(),
        "attempts": 1,
        "recipients": 1,
        "unknowns": 0,
        "expires_at": NOW + timedelta(days=4),
        "category": "transactional",
        "recipient_email": "ann@example.org",
        "recipient_name": None,
        "custom_data": None,
        "content_id": 1,
        "content_on": date(2026, 3, 1),
    }
    return ClaimedEmail(**{**values, **changes})


def content(**changes: Any) -> EmailContent:
    values: dict[str, Any] = {
        "id": 1,
        "subject": "Hello",
        "html_body": None,
        "text_body": "Hello Ann",
        "from_email": None,
        "from_name": None,
        "reply_to": None,
        "headers": None,
    }
    return EmailContent(**{**values, **changes})


def loaded(*others: tuple[str, str], email: ClaimedEmail | None = None, **says: Any) -> LoadedEmail:
    """Return a loaded email; `others` are (kind, address) of further recipients."""
    mine = email or claimed(recipients=1 + len(others))
    first = ("to", mine.recipient_email)
    everyone = tuple(
        EmailRecipient(mine.id, kind, address, None, "pending")
        for kind, address in ((first, *others) if others else ())
    )
    return LoadedEmail(mine, content(**says), everyone)


def attempt(*addresses: str, number: int = 1, message: bytes = b"") -> SendAttempt:
    """Return an attempt to send to one address, unless several are named."""
    several = addresses or ("ann@example.org",)
    return SendAttempt(
        uuid4(),
        Envelope("shop@example.com", several),
        message,
        claim_no=7,
        number=number,
        message_id="<1@example.com>",
        addresses=several,
        has_several=len(several) > 1,
    )
