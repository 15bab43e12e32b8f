"""Consumes queues of RabbitMQ, with acknowledgements by hand."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from aio_pika import DeliveryMode, Message
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage, AbstractQueue
from aiormq.channel import Channel
from aiormq.exceptions import DeliveryError, PublishError

from mailqueue.adapters.rabbitmq.connection import REPLY_SECONDS, RabbitConnection, broker_errors
from mailqueue.adapters.rabbitmq.encodable import headers_of_copy
from mailqueue.adapters.rabbitmq.frames import UNREADABLE
from mailqueue.adapters.rabbitmq.topology import dead_letter_queue_of, prepare_queue
from mailqueue.ports.broker import BrokerMessage, BrokerUnavailable
from mailqueue.settings.rabbitmq import RabbitSettings

LOOK_SECONDS = 10.0
"""Interval at which a quiet queue is looked at: the broker may have ended its consumer."""
MAX_REASON_CHARACTERS = 1_000
MAX_DELIVERIES = 1_000_000
"""A larger count is none of the broker's."""


class RabbitBroker:
    """A Broker."""

    def __init__(self, settings: RabbitSettings) -> None:
        self._settings = settings
        self._connection = RabbitConnection(settings, name="mailqueue rabbitmq")

    @asynccontextmanager
    async def consuming(self, queue: str) -> AsyncIterator["RabbitQueue"]:
        """Consume a queue during the block, in a channel of its own."""
        async with self._connection.channel() as channel:
            async with asyncio.timeout(REPLY_SECONDS):
                await channel.set_qos(prefetch_count=self._settings.prefetch)
                declared = await prepare_queue(channel, self._settings, queue)
            consumed = RabbitQueue(channel, declared, self._connection.address)
            await consumed.begin()
            yield consumed

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()


class RabbitQueue:
    """A BrokerQueue. Mutable."""

    def __init__(self, channel: AbstractChannel, queue: AbstractQueue, address: str) -> None:
        self._channel = channel
        self._queue = queue
        self._address = address
        self._came: deque[tuple[AbstractIncomingMessage, BrokerMessage]] = deque()
        self._received: dict[int, AbstractIncomingMessage] = {}
        self._changed = asyncio.Event()
        self._consumer = ""

    async def begin(self) -> None:
        """Let the broker deliver messages."""
        self._channel.close_callbacks.add(self._close)
        with broker_errors(self._address):
            self._consumer = await self._queue.consume(self._take, timeout=REPLY_SECONDS)

    async def receive(self, limit: int) -> Sequence[BrokerMessage]:
        """Wait for messages; return at most `limit`, in the order of the queue."""
        while not self._came:
            self._check()
            self._changed.clear()
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                await self._check_consumer()
        self._check()
        found: list[BrokerMessage] = []
        while self._came and len(found) < limit:
            incoming, message = self._came.popleft()
            self._received[message.tag] = incoming
            found.append(message)
        return found

    def buffered(self) -> Sequence[BrokerMessage]:
        """Return messages that were delivered and not received yet."""
        return [message for _, message in self._came]

    async def acknowledge(self, message: BrokerMessage) -> None:
        """Acknowledge a message, and no other: one that was never received stays in the queue."""
        self._check()
        with broker_errors(self._address):
            await self._received[message.tag].ack()
        del self._received[message.tag]

    async def dead_letter(self, message: BrokerMessage, reason: str) -> None:
        """Publish a copy with the reason to the dead-letter queue, and wait for its confirm."""
        self._check()
        incoming = self._received[message.tag]
        said = reason.replace("\0", "")[:MAX_REASON_CHARACTERS]
        copy = Message(
            message.body,
            headers={
                **headers_of_copy(incoming.headers),
                "mailqueue-reason": said,
                "mailqueue-queue": self._queue.name,
                "mailqueue-deliveries": message.deliveries,
            },
            content_type=incoming.content_type,
            content_encoding=incoming.content_encoding,
            correlation_id=incoming.correlation_id,
            message_id=incoming.message_id,
            timestamp=incoming.timestamp,
            type=incoming.type,
            delivery_mode=DeliveryMode.PERSISTENT,
        )
        name = dead_letter_queue_of(self._queue.name)
        try:
            with broker_errors(self._address):
                await self._channel.default_exchange.publish(
                    copy, routing_key=name, mandatory=True, timeout=REPLY_SECONDS
                )
        except (PublishError, DeliveryError) as exc:
            raise BrokerUnavailable(f"RabbitMQ at {self._address}: no queue {name}") from exc

    async def _take(self, incoming: AbstractIncomingMessage) -> None:
        self._came.append((incoming, _message_of(incoming)))
        self._changed.set()

    def _close(self, *_: object) -> None:
        self._changed.set()

    def _check(self) -> None:
        if self._channel.is_closed:
            raise BrokerUnavailable(f"RabbitMQ at {self._address}: the connection was lost")

    async def _check_consumer(self) -> None:
        self._check()
        with broker_errors(self._address):
            underlay = await self._channel.get_underlay_channel()
        if isinstance(underlay, Channel) and self._consumer not in underlay.consumers:
            raise BrokerUnavailable(
                f"RabbitMQ at {self._address}: it no longer delivers from {self._queue.name}"
            )


def _message_of(incoming: AbstractIncomingMessage) -> BrokerMessage:
    headers = {str(name): _plain(value) for name, value in incoming.headers.items()}
    unreadable = headers.pop(UNREADABLE, None)
    count = headers.get("x-delivery-count")
    # The broker writes the count with the second delivery; before that it is what a client wrote.
    before = int(bool(incoming.redelivered))
    if incoming.redelivered and isinstance(count, int) and 0 <= count < MAX_DELIVERIES:
        before = count
    return BrokerMessage(
        tag=incoming.delivery_tag or 0,
        body=incoming.body,
        content_type=incoming.content_type,
        message_id=incoming.message_id,
        type=incoming.type,
        correlation_id=None if incoming.correlation_id is None else str(incoming.correlation_id),
        headers=headers,
        deliveries=before + 1,
        unreadable=None if unreadable is None else str(unreadable),
    )


def _plain(value: object) -> Any:
    """Return a value of a header as JSON knows it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode(errors="replace")
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal) or (isinstance(value, float) and not isfinite(value)):
        return str(value)
    return value
