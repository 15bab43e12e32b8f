"""Messages with properties that no client would write, byte for byte."""

import struct

import pika
from pika.adapters.blocking_connection import BlockingChannel

from tests.bridge.messages import Client

CONTENT_TYPE = 0x8000
HEADERS = 0x2000
DELIVERY_MODE = 0x1000
PRIORITY = 0x0800
CORRELATION_ID = 0x0400
EXPIRATION = 0x0100
MESSAGE_ID = 0x0080
TIMESTAMP = 0x0040
TYPE = 0x0020
APP_ID = 0x0008


class RawProperties(pika.BasicProperties):  # type: ignore[misc]
    """Properties that are sent as they are given: flags and values."""

    def __init__(self, flags: int, *values: bytes) -> None:
        super().__init__()
        self.raw = struct.pack(">H", flags) + b"".join(values)

    def encode(self) -> list[bytes]:
        """Return them as pika sends them."""
        return [self.raw]


class RawPublish(pika.spec.Basic.Publish):  # type: ignore[misc]
    """basic.publish with a routing key of any bytes."""

    def __init__(self, exchange: str, key: bytes) -> None:
        super().__init__()
        self.raw = struct.pack(">H", 0) + short(exchange.encode()) + short(key) + b"\0"

    def encode(self) -> list[bytes]:
        """Return it as pika sends it."""
        return [self.raw]


def short(text: bytes) -> bytes:
    """Return a short string."""
    return struct.pack(">B", len(text)) + text


def long(content: bytes) -> bytes:
    """Return what follows its length: a long string, a table, or a list."""
    return struct.pack(">I", len(content)) + content


def field(name: bytes, kind: bytes, value: bytes) -> bytes:
    """Return a field of a table."""
    return short(name) + kind + value


def table(*fields: bytes) -> bytes:
    """Return a table."""
    return long(b"".join(fields))


def nested(levels: int) -> bytes:
    """Return a table in which tables are nested."""
    found = table(field(b"end", b"t", b"\1"))
    for _ in range(levels - 1):
        found = table(field(b"a", b"F", found))
    return found


async def publish(
    client: Client,
    queue: str,
    properties: RawProperties,
    body: bytes,
    *,
    exchange: str = "",
    key: bytes | None = None,
    frame_max: int | None = None,
) -> None:
    """Publish a message, with `key` by that one; raises an error where the broker refuses it."""

    def send(channel: BlockingChannel) -> None:
        channel.confirm_delivery()
        if key is None:
            channel.basic_publish(exchange, queue, body, properties, mandatory=True)
        else:
            method = RawPublish(exchange, key)
            channel.connection._impl._send_message(
                channel.channel_number, method, (properties, body)
            )
            channel.queue_declare(queue, passive=True)  # it is answered after the message

    await client.run(send, frame_max=frame_max)
