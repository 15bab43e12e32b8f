"""Values that the formats of providers share: addresses, custom data, times. Pure."""

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mailqueue.webhooks.formats.model import FormattedEvent
from mailqueue.webhooks.model import EventType

WHOLE_EMAIL = frozenset(
    {EventType.QUEUED, EventType.SENT, EventType.FAILED, EventType.EXPIRED, EventType.SUPPRESSED}
)
"""Types of events that are about an email with all its recipients."""
_CODE = re.compile(r"\b([245]\d\d)\b")
_ENHANCED = re.compile(r"\b([245]\.\d{1,3}\.\d{1,3})\b")
_DOMAIN = re.compile(r"[A-Za-z0-9.-]+")


def addresses_of(event: FormattedEvent, kind: str = "to") -> list[str]:
    """Return the addresses of one kind of recipients; of a test event the one it names."""
    if event.facts is None:
        return [str(event.data.get("recipient") or "")] if kind == "to" else []
    return [address for each, address, _ in event.facts.recipients if each == kind]


def recipients_of(event: FormattedEvent) -> list[str]:
    """Return the addresses that an event is about."""
    if event.type in WHOLE_EMAIL and event.facts is not None:
        return [address for _, address, _ in event.facts.recipients]
    return [str(event.data.get("recipient") or "")]


def sender_of(event: FormattedEvent) -> str:
    """Return the From address; empty where it is not stored."""
    return "" if event.facts is None else event.facts.from_email or ""


def subject_of(event: FormattedEvent) -> str:
    """Return the subject as it was accepted; empty where it is not stored, or of a template."""
    return "" if event.facts is None else event.facts.subject or ""


def email_id_of(event: FormattedEvent) -> str:
    """Return the id of the email; of a test event, that of the event."""
    return str(event.data.get("email_id") or event.id)


def answered_id_of(event: FormattedEvent) -> str:
    """Return the id that the request was answered with: of several emails that of the first."""
    return email_id_of(event) if event.facts is None else str(event.facts.first_id)


def message_id_of(event: FormattedEvent, *, is_first: bool = False) -> str | None:
    """Return the Message-ID with angle brackets, also before the email is sent; `is_first`: the
    one of the first email of its request.
    """
    facts = event.facts
    given = event.data.get("message_id") or (facts.message_id if facts else None)
    domain = sender_of(event).rpartition("@")[2]
    if facts is None or not _DOMAIN.fullmatch(domain):
        return given
    own = f"<{facts.id.hex}@{domain}>"
    if given in (None, own):
        return f"<{facts.first_id.hex}@{domain}>" if is_first else own
    return given


def metadata_of(event: FormattedEvent, key: str) -> dict[str, Any]:
    """Return the custom data that a provider's API stored under `key`, or else the texts, numbers
    and booleans of the custom data.
    """
    custom = event.data.get("custom_data")
    if not isinstance(custom, Mapping):
        return {}
    found = custom.get(key)
    if isinstance(found, Mapping):
        return dict(found)
    return {
        name: _text(value) for name, value in custom.items() if isinstance(value, str | int | float)
    }


def _text(value: str | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def reason_of(event: FormattedEvent) -> str:
    """Return the reason of an event, such as the reply of a server; empty where it has none."""
    return str(event.data.get("reason") or "")


def reply_code_of(event: FormattedEvent) -> int | None:
    """Return the SMTP reply code of a bounce or a delay; None where there is none."""
    texts = (str(event.data.get(name) or "") for name in ("code", "reason"))
    return next((code for text in texts if (code := reply_code_in(text))), None)


def reply_code_in(text: str) -> int | None:
    """Return the SMTP reply code at the beginning of a server's reply; None where there is none."""
    found = _CODE.search(text[:200])
    return int(found[1]) if found else None


def status_of(event: FormattedEvent) -> str | None:
    """Return the enhanced status code of a bounce or a delay; None where there is none."""
    texts = (str(event.data.get(name) or "") for name in ("code", "reason"))
    return next((code for text in texts if (code := enhanced_code_in(text))), None)


def enhanced_code_in(text: str) -> str | None:
    """Return the enhanced status code at the beginning of a server's reply; None where there is
    none.
    """
    found = _ENHANCED.search(text[:200])
    return found[1] if found else None


def stamp(at: datetime) -> str:
    """Return a time in ISO 8601, in UTC with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def is_of_bounced(event: FormattedEvent) -> bool:
    """Return whether an email that failed bounced, so that an event of its own says so."""
    is_bounced = event.facts is not None and event.facts.is_bounced
    return event.type is EventType.FAILED and is_bounced


def number_of(event_id: UUID) -> int:
    """Return a number for an event that fits into 53 bits."""
    return int.from_bytes(hashlib.sha256(event_id.bytes).digest()[:8]) >> 11
