"""Reads events from messages: MassTransit's envelope, CloudEvents 1.0, and plain JSON. Pure.

https://masstransit.io/documentation/concepts/messages
https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid5

import orjson

from mailqueue.bridge.model import IncomingEvent
from mailqueue.core.json.writing import write_json
from mailqueue.ports.broker import BrokerMessage

MAX_BODY_BYTES = 4 * 1024 * 1024
"""Bytes of a message that is read at all; the inbox takes 256 KiB of payload."""
_MASSTRANSIT = "application/vnd.masstransit+json"
_CLOUDEVENT = "application/cloudevents+json"
_ATTRIBUTE = re.compile(r"(?:cloudevents[:_]|ce[-_])([a-z0-9]+)")
_EVENTS = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
"""Namespace of ids of events whose own id is not a UUID."""
_KNOWN_HEADERS = {
    "messageid",
    "conversationid",
    "correlationid",
    "initiatorid",
    "requestid",
    "expirationtime",
    "messagetype",
    "sourceaddress",
}


class UnreadableMessage(Exception):
    """The message is not an event; the text says why."""


def read_event(message: BrokerMessage) -> IncomingEvent:
    """Return the event of a message.

    Raises:
        UnreadableMessage: it is none, with the reason.
    """
    if len(message.body) > MAX_BODY_BYTES:
        raise UnreadableMessage("body: more than 4 MiB")
    media_type = (message.content_type or "").partition(";")[0].strip().lower()
    attributes = _attributes(message.headers)
    if "specversion" in attributes:
        return _cloud_event(attributes | {"data": _json(message.body)}, message.headers)
    body = _json(message.body)
    if not isinstance(body, dict):
        raise UnreadableMessage(f"body: an object is needed, got {type(body).__name__}")
    fields = {name.lower(): value for name, value in body.items()}
    if media_type == _CLOUDEVENT or "specversion" in body:
        return _cloud_event(body, message.headers)
    if media_type == _MASSTRANSIT or {"messagetype", "message"} <= fields.keys():
        return _masstransit(fields, message.headers)
    return _plain(message, body)


def _masstransit(fields: Mapping[str, Any], outer: Mapping[str, Any]) -> IncomingEvent:
    types = fields.get("messagetype")
    names = [types] if isinstance(types, str) else types
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise UnreadableMessage("messageType: a list of types is needed")
    given = fields.get("headers")
    headers = {
        **_others(outer),
        **_others(given if isinstance(given, dict) else {}),
        "MessageType": ";".join(names)[:200],
        "ConversationId": fields.get("conversationid"),
        "CorrelationId": fields.get("correlationid"),
        "InitiatorId": fields.get("initiatorid"),
        "RequestId": fields.get("requestid"),
        "ExpirationTime": fields.get("expirationtime"),
        "SourceAddress": fields.get("sourceaddress"),
    }
    # urn:message:Shop.Contracts:PlaceOrderCommand
    return _event(fields.get("messageid"), names[0].rpartition(":")[2], fields["message"], headers)


def _cloud_event(fields: Mapping[str, Any], outer: Mapping[str, Any]) -> IncomingEvent:
    if (version := fields.get("specversion")) != "1.0":
        raise UnreadableMessage(f"specversion: 1.0 is needed, got {_shown(version)}")
    given, source = fields.get("id"), fields.get("source")
    if not isinstance(given, str) or not given or not isinstance(source, str) or not source:
        raise UnreadableMessage("id and source: strings are needed")
    data = fields.get("data")
    if data is None and isinstance(fields.get("data_base64"), str):
        try:
            data = _json(base64.b64decode(fields["data_base64"], validate=True))
        except binascii.Error as exc:
            raise UnreadableMessage("data_base64: is not base64") from exc
    extensions = {
        name: value
        for name, value in fields.items()
        if name not in {"specversion", "id", "type", "data", "data_base64", "datacontenttype"}
    }
    headers = {**_others(outer), **extensions, "ExpirationTime": fields.get("expirytime")}
    message_id = _uuid(given) or uuid5(_EVENTS, f"{source} {given}")
    return _event(message_id, fields.get("type"), data, headers)


def _plain(message: BrokerMessage, body: dict[str, Any]) -> IncomingEvent:
    headers = {**message.headers, "CorrelationId": message.correlation_id}
    return _event(message.message_id, message.type, body, headers)


def _event(
    message_id: object, event_type: object, payload: object, headers: Mapping[str, Any]
) -> IncomingEvent:
    found = message_id if isinstance(message_id, UUID) else _uuid(message_id)
    if found is None:
        raise UnreadableMessage(f"message id: a UUID is needed, got {_shown(message_id)}")
    if not isinstance(event_type, str) or not 1 <= len(event_type) <= 200 or "\0" in event_type:
        raise UnreadableMessage(f"type: 1 to 200 characters are needed, got {_shown(event_type)}")
    kept = {name: value for name, value in headers.items() if value is not None}
    return IncomingEvent(found, event_type, _text(payload), _text(kept))


def _attributes(headers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a CloudEvent in binary mode, from its headers."""
    matches = ((_ATTRIBUTE.fullmatch(name.lower()), value) for name, value in headers.items())
    return {match[1]: value for match, value in matches if match is not None}


def _others(headers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the headers that are neither of an envelope nor of the broker."""
    return {
        name: value
        for name, value in headers.items()
        if name.lower().replace("-", "").replace("_", "") not in _KNOWN_HEADERS
        and not name.startswith("x-")
        and _ATTRIBUTE.fullmatch(name.lower()) is None
    }


def _json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except ValueError as exc:
        raise UnreadableMessage(f"body: not JSON: {exc}"[:300]) from exc


def _text(value: object) -> str:
    try:
        return write_json(value).decode()
    except (TypeError, ValueError) as exc:
        raise UnreadableMessage(f"body: JSON that cannot be stored: {exc}"[:300]) from exc


def _uuid(value: object) -> UUID | None:
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _shown(value: object) -> str:
    return "none" if value is None else repr(value)[:100]
