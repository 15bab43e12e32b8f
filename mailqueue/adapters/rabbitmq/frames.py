"""Frames as aio-pika can read them, whatever is in them.

aio-pika ends the connection over a delivery that it cannot decode, so the broker would deliver it
again and nothing behind it. Here each frame is looked at first: a delivery whose properties are
wrong is given with those that can be read, and with the header UNREADABLE that says what is wrong.
"""

import asyncio
import struct
from typing import Any

from aio_pika import Connection
from aiormq.connection import TCPTransportFactory, TLSTransportFactory, TransportFactory
from pamqp.commands import Basic
from pamqp.constants import FRAME_HEADER, FRAME_HEADER_SIZE, FRAME_METHOD
from yarl import URL

from mailqueue.adapters.rabbitmq.encodable import encodable
from mailqueue.adapters.rabbitmq.properties import read_properties

UNREADABLE = "mailqueue-unreadable"
"""Header of a delivery with properties that could not be read: says which and why."""
_MAX_PROBLEM_CHARACTERS = 500
_DELIVER = struct.pack(">HH", 60, 60)
_BEFORE_PROPERTIES = 12
_NOT_COPIED = ("headers", "cluster_id")


class ReadableConnection(Connection):
    """A connection whose deliveries can all be read."""

    def __init__(self, url: URL, *given: Any, **named: Any) -> None:
        super().__init__(url, *given, **named)
        is_tls = self.url.scheme == "amqps"
        self.kwargs["transport_factory"] = _Transport(
            TLSTransportFactory() if is_tls else TCPTransportFactory()
        )


class _Transport(TransportFactory):
    def __init__(self, plain: TransportFactory) -> None:
        self._plain = plain

    async def create(
        self, url: URL, **kwargs: Any
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self._plain.create(url, **kwargs)
        return ReadableFrames(reader, writer), writer


class ReadableFrames(asyncio.StreamReader):
    """The frames of another reader. Mutable.

    The connection is closed at its end: aiormq leaves one open that ends before the broker spoke.
    """

    def __init__(self, source: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__()
        self._source = source
        self._writer = writer
        self._frame = b""
        self._at = 0

    def at_eof(self) -> bool:
        """Return whether everything was read."""
        return self._at == len(self._frame) and self._source.at_eof()

    async def read(self, n: int = -1) -> bytes:
        """Return what is left of a frame, or the next bytes."""
        if self._at == len(self._frame):
            return await self._source.read(n)
        end = len(self._frame) if n < 0 else self._at + n
        return self._part(end)

    async def readexactly(self, n: int) -> bytes:
        """Return bytes of one frame."""
        if self._at == len(self._frame):
            try:
                self._frame, self._at = await self._next(), 0
            except (EOFError, OSError):
                self._writer.close()
                raise
        if self._at + n > len(self._frame):
            raise asyncio.IncompleteReadError(self._part(len(self._frame)), n)
        return self._part(self._at + n)

    def _part(self, end: int) -> bytes:
        begin, self._at = self._at, min(end, len(self._frame))
        return self._frame[begin : self._at]

    async def _next(self) -> bytes:
        head = await self._source.readexactly(FRAME_HEADER_SIZE)
        if head.startswith(b"AMQP"):  # the broker speaks another version, and says no more
            return head
        kind, channel, size = struct.unpack(">BHI", head)
        rest = await self._source.readexactly(size + 1)
        payload = rest[:-1]
        if kind == FRAME_HEADER:
            payload = readable_header(payload)
        elif kind == FRAME_METHOD and payload.startswith(_DELIVER):
            payload = readable_delivery(payload)
        return struct.pack(">BHI", kind, channel, len(payload)) + payload + rest[-1:]


def readable_header(payload: bytes) -> bytes:
    """Return a content header with the properties that can be read. Pure."""
    values, problems = read_properties(payload[_BEFORE_PROPERTIES:])
    if not problems:
        return payload
    properties = Basic.Properties(
        **{name: value for name, value in values.items() if name not in _NOT_COPIED},
        headers=encodable(values.get("headers", {}))
        | {UNREADABLE: "; ".join(problems)[:_MAX_PROBLEM_CHARACTERS]},
    )
    return payload[:_BEFORE_PROPERTIES] + properties.marshal()


def readable_delivery(payload: bytes) -> bytes:
    """Return a delivery whose names of exchange and routing key are UTF-8. Pure."""
    tag_end = 5 + payload[4]
    begin = tag_end + 9  # the number of the delivery, and whether it was delivered before
    exchange_end = begin + 1 + payload[begin]
    names = (payload[begin + 1 : exchange_end], payload[exchange_end + 1 :])
    try:
        for name in names:
            name.decode()
    except UnicodeDecodeError:
        return payload[:begin] + b"".join(_short(name) for name in names)
    return payload


def _short(name: bytes) -> bytes:
    text = name.decode(errors="replace").encode()[:255].decode(errors="ignore").encode()
    return struct.pack(">B", len(text)) + text
