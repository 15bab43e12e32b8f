"""The registry of formats, and the formatted body of an event."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from mailqueue.core.errors import InvalidField
from mailqueue.core.json.reading import read_json
from mailqueue.webhooks.formats.mailgun import MAILGUN_FORMAT
from mailqueue.webhooks.formats.model import FormatName, FormattedEvent, WebhookFormat
from mailqueue.webhooks.formats.postmark import POSTMARK_FORMAT
from mailqueue.webhooks.formats.resend import RESEND_FORMAT
from mailqueue.webhooks.formats.sendgrid import SENDGRID_FORMAT
from mailqueue.webhooks.formats.standard import MAILQUEUE_FORMAT
from mailqueue.webhooks.model import EmailFacts, EventType

FORMATS: Mapping[str, WebhookFormat] = MappingProxyType(
    {
        one.name: one
        for one in (
            MAILQUEUE_FORMAT,
            RESEND_FORMAT,
            POSTMARK_FORMAT,
            SENDGRID_FORMAT,
            MAILGUN_FORMAT,
        )
    }
)
"""Every format, by its name."""


def format_named(name: str) -> WebhookFormat:
    """Return a format.

    Raises:
        InvalidField: there is none of that name.
    """
    found = FORMATS.get(name)
    if found is None:
        names = ", ".join(FormatName)
        raise InvalidField("format", f"must be one of {names}, got {name[:50]!r}")
    return found


def email_of(payload: str) -> UUID | None:
    """Return the id of the email in a payload; None where it has none."""
    data = _part(read_json(payload), "data")
    try:
        return UUID(str(data.get("email_id")))
    except ValueError:
        return None


def written(
    form: WebhookFormat, payload: str, *, event_id: UUID, facts: EmailFacts | None = None
) -> bytes | None:
    """Return the body of an event in a format; None if the format has none to send.

    Raises:
        ValueError: the payload is not one of an event of an email.
    """
    if form.write is None:
        return payload.encode()
    document = read_json(payload)
    if not isinstance(document, Mapping):
        raise ValueError("the payload is not an object")
    event = FormattedEvent(
        event_id,
        EventType(str(document.get("type"))),
        datetime.fromisoformat(str(document.get("timestamp"))),
        _part(document, "data"),
        facts,
    )
    return form.write(event)


def _part(document: Any, name: str) -> Mapping[str, Any]:
    found = document.get(name) if isinstance(document, Mapping) else None
    return found if isinstance(found, Mapping) else {}
