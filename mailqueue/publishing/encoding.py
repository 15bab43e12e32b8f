"""Messages in the formats of exchanges: MassTransit's envelope, CloudEvents. Pure."""

from urllib.parse import urlsplit

from mailqueue.core.json.reading import read_json
from mailqueue.ports.publisher import EncodedMessage, OutgoingMessage
from mailqueue.publishing import cloudevents, masstransit

MAX_KEY_CHARACTERS = 255


def encode(target: str, message: OutgoingMessage) -> EncodedMessage:
    """Return a message for a target, FORMAT or FORMAT:EXCHANGE."""
    form, _, named = target.partition(":")
    exchange = exchange_of(message, named)
    headers = _headers(message)
    if form == "masstransit":
        body = masstransit.envelope_of(message)
        return EncodedMessage(body, masstransit.CONTENT_TYPE, headers, exchange, None)
    key = message.message_type[:MAX_KEY_CHARACTERS]
    if form == "cloudevents":
        body = cloudevents.event_of(message)
        return EncodedMessage(body, cloudevents.CONTENT_TYPE, headers, exchange, key)
    attributes = {
        f"ce-{name}": value if isinstance(value, str) else str(value).lower()
        for name, value in cloudevents.attributes_of(message).items()
        if name != "datacontenttype"  # a property of the message
    }
    body = message.body.encode()
    return EncodedMessage(body, message.content_type, {**headers, **attributes}, exchange, key)


def exchange_of(message: OutgoingMessage, named: str) -> str:
    """Return the exchange of a message: of its address, else `named`, else of its type."""
    address = message.destination_address
    if address is not None:
        scheme = urlsplit(address).scheme
        if scheme in ("queue", "exchange", "topic"):
            return address.partition(":")[2].partition("?")[0]
        if scheme in ("rabbitmq", "rabbitmqs", "amqp", "amqps"):
            return urlsplit(address).path.rpartition("/")[2]
    return named or masstransit.types_of(message.message_type)[0]


def _headers(message: OutgoingMessage) -> dict[str, str | bool | int]:
    found = {} if message.headers is None else read_json(message.headers)
    return {n: value for n, value in found.items() if isinstance(value, str | bool | int)}
