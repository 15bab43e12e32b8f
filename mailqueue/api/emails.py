"""The endpoints that show mail and what became of it."""

from dataclasses import asdict
from typing import Any

from mailqueue.api import mail
from mailqueue.api.call import Call
from mailqueue.api.endpoint import Endpoint
from mailqueue.api.model import ShownEmail
from mailqueue.tenants.model import Scope


async def email(call: Call) -> dict[str, Any]:
    """Give one mail with its recipients, attempts and events."""
    email_id = call.id("email_id")
    async with call.connection() as conn:
        found = await mail.look_up(conn, call.caller, email_id)
    # The attempts themselves take the name; how many there were is their count.
    return asdict(found.email) | {
        "attempt_count": found.email.attempts,
        "recipients": found.recipients,
        "attempts": found.attempts,
        "events": found.events,
    }


ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/emails/{email_id}",
        Scope.EMAIL_READ,
        "Show an email and what became of it.",
        email,
        response=ShownEmail,
        tag="Emails",
    ),
)
