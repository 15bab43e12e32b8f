"""Convert a mail to the parameters of the SQL function `enqueue`.

Pure, but for the trace context of the current span.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from mailqueue.core.errors import InvalidField
from mailqueue.core.storable_text import unstorable
from mailqueue.core.trace_context import current_traceparent, with_traceparent
from mailqueue.producer.model import Addresses, Attachment, UploadedFile

_BODY = ("subject", "html", "text")
_LISTS = ("cc", "bcc")
# Fields whose SQL name differs from their Python name.
_FIELD_BY_COLUMN = MappingProxyType(
    {
        "recipient": "to",
        "recipient_email": "to",
        "recipient_name": "to",
        "html_body": "html",
        "text_body": "text",
    }
)


@dataclass(frozen=True, slots=True)
class EnqueueMessage:
    """A mail as `mailqueue.enqueue` takes it; `options` is JSON."""

    recipient: str
    subject: str | None
    html: str | None
    text: str | None
    options: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """Return the mail as one JSON object of a batch."""
        own = {"recipient": self.recipient, "subject": self.subject}
        return {**self.options, **own, "html": self.html, "text": self.text}


def message_of(to: Addresses, mail: Mapping[str, Any]) -> EnqueueMessage:
    """Return a mail as `mailqueue.enqueue` takes it; most fields are validated there.

    Raises:
        InvalidField: a value cannot be converted.
    """
    first, *others = addresses("to", to)
    given = plain({name: value for name, value in mail.items() if name not in _BODY})
    options = with_traceparent(given, current_traceparent())
    if others:
        options = {**options, "to": others}
    body = {name: _text(name, mail.get(name)) for name in _BODY}
    fault = unstorable("", {"to": first, **body}) or unstorable("", options)
    if fault is not None:
        raise fault
    return EnqueueMessage(recipient=first, options=options, **body)


def plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as JSON values, without those that are None.

    Raises:
        InvalidField: an option has no JSON form.
    """
    given = {name: value for name, value in options.items() if value is not None}
    return {name: _plain(name, value) for name, value in given.items()}


def addresses(name: str, value: Addresses) -> list[str]:
    """Return one or more mailboxes as a list.

    Raises:
        InvalidField: there is none, or a value is not text.
    """
    found = [value] if isinstance(value, str) else list(value)
    if not found or not all(isinstance(one, str) for one in found):
        raise InvalidField(name, "an address, or a list of them, is needed")
    return found


def known(field: str) -> str:
    """Return the Python name of a field."""
    return _FIELD_BY_COLUMN.get(field, field)


def _text(name: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidField(name, f"a string is needed, got {type(value).__name__}")
    return value


def _plain(name: str, value: Any) -> Any:
    if name in _LISTS:
        return addresses(name, value) if value else []
    if name == "attachments":
        return [_file(one) for one in value]
    try:
        # Converted to JSON and back, so that the checks see what PostgreSQL receives.
        return json.loads(json.dumps(value, default=_written, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidField(name, f"cannot be written as JSON: {exc}") from None


def _file(file: object) -> dict[str, str]:
    if isinstance(file, Attachment | UploadedFile):
        return file.written()
    raise InvalidField("attachments", "must be a list of Attachment and UploadedFile")


def _written(value: object) -> object:
    match value:
        case datetime():
            if value.tzinfo is None:
                raise ValueError("must have a time zone")
            return value.isoformat()
        case date() | UUID():
            return str(value)
        case Mapping():
            return dict(value)
        case Sequence():
            return list(value)
    raise TypeError(f"got {type(value).__name__}")
