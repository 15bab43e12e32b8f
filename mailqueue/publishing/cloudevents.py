"""Messages as CloudEvents 1.0 in JSON. Pure.

https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
"""

import re
from datetime import UTC, datetime
from urllib.parse import quote
from uuid import UUID

from mailqueue.core.json.reading import read_json
from mailqueue.core.json.writing import write_json
from mailqueue.ports.publisher import OutgoingMessage

CONTENT_TYPE = "application/cloudevents+json"
SEQUENCE_DIGITS = 20
"""Digits of the attribute `sequence`, so that its order as text is that of the numbers."""
_JSON = re.compile(r"[^;]+[/+]json\s*(;.*)?", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"[a-z0-9]{1,20}")
_OF_DATA = {"data", "data_base64"}


def event_of(message: OutgoingMessage) -> bytes:
    """Return a message as a CloudEvent in structured mode.

    A JSON body is its data as it was written, any other body a string.
    """
    data = message.body.encode() if is_json(message.content_type) else write_json(message.body)
    return write_json(attributes_of(message))[:-1] + b',"data":' + data + b"}"


def is_json(content_type: str) -> bool:
    """Return whether a media type is one of JSON."""
    return _JSON.fullmatch(content_type) is not None


def attributes_of(message: OutgoingMessage) -> dict[str, str | bool]:
    """Return the attributes of a message as a CloudEvent."""
    source = message.source_address or f"/{quote(message.project)}/outboxes/{message.outbox}"
    known: dict[str, str | None] = {
        "specversion": "1.0",
        "id": str(message.message_id),
        "source": source,
        "type": message.message_type,
        "time": time_of(message.enqueue_time),
        "datacontenttype": message.content_type,
        "sequence": str(message.sequence_number).zfill(SEQUENCE_DIGITS),
        "conversationid": _id(message.conversation_id),
        "correlationid": _id(message.correlation_id),
        "initiatorid": _id(message.initiator_id),
        "requestid": _id(message.request_id),
        "destinationaddress": message.destination_address,
        "responseaddress": message.response_address,
        "faultaddress": message.fault_address,
        "expirytime": time_of(message.expiration_time),
    }
    return {
        **{name: value for name, value in known.items() if value is not None},
        **_extensions(message.headers, taken=known.keys() | _OF_DATA),
    }


def _extensions(headers: str | None, *, taken: set[str]) -> dict[str, str | bool]:
    """Return the headers that can be attributes: strings and booleans with a name of 1 to 20
    lower-case letters and digits.
    """
    found = {} if headers is None else read_json(headers)
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, str | bool) and _ATTRIBUTE.fullmatch(name) and name not in taken
    }


def _id(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def time_of(at: datetime | None) -> str | None:
    """Return a time in RFC 3339 format, in UTC."""
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")
