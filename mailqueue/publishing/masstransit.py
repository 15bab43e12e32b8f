"""Messages in MassTransit's JSON envelope. Pure.

https://masstransit.io/documentation/concepts/messages
"""

from typing import Any

from mailqueue.core.json.reading import read_json
from mailqueue.core.json.writing import write_json
from mailqueue.ports.publisher import OutgoingMessage
from mailqueue.publishing.cloudevents import is_json, time_of

CONTENT_TYPE = "application/vnd.masstransit+json"
URN = "urn:message:"


def types_of(message_type: str) -> list[str]:
    """Return the names of a message's types, without the prefix of a URN; the first is its own."""
    return [one.removeprefix(URN) for one in message_type.split(";")]


def envelope_of(message: OutgoingMessage) -> bytes:
    """Return a message in its envelope; one that is an envelope already is returned as it is.

    A JSON body is the message as it was written, any other body a string.
    """
    if message.content_type.partition(";")[0].strip().lower() == CONTENT_TYPE:
        return message.body.encode()
    known: dict[str, Any] = {
        "messageId": str(message.message_id),
        "requestId": message.request_id,
        "correlationId": message.correlation_id,
        "conversationId": message.conversation_id,
        "initiatorId": message.initiator_id,
        "sourceAddress": message.source_address,
        "destinationAddress": message.destination_address,
        "responseAddress": message.response_address,
        "faultAddress": message.fault_address,
        "messageType": [URN + one for one in types_of(message.message_type)],
        "expirationTime": time_of(message.expiration_time),
        "sentTime": time_of(message.enqueue_time),
        "headers": {} if message.headers is None else read_json(message.headers),
    }
    body = message.body.encode() if is_json(message.content_type) else write_json(message.body)
    envelope = {name: value for name, value in known.items() if value is not None}
    return write_json(envelope)[:-1] + b',"message":' + body + b"}"
