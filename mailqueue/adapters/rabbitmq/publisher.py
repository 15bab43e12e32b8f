"""Publishes messages of outboxes to exchanges, each confirmed before the next is begun."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

from aio_pika import DeliveryMode, ExchangeType, Message
from aio_pika.abc import AbstractChannel, AbstractExchange
from aiormq.exceptions import DeliveryError, PublishError

from mailqueue.adapters.rabbitmq.connection import REPLY_SECONDS, RabbitConnection, broker_errors
from mailqueue.core.crashpoints import reach
from mailqueue.ports.broker import BrokerUnavailable
from mailqueue.ports.publisher import EncodedMessage, OutgoingMessage, PublishResult
from mailqueue.settings.rabbitmq import RabbitSettings, Topology

_SOON = timedelta(milliseconds=1)


class RabbitPublisher:
    """A Publisher whose targets are FORMAT or FORMAT:EXCHANGE. Mutable."""

    def __init__(
        self, settings: RabbitSettings, encode: Callable[[str, OutgoingMessage], EncodedMessage]
    ) -> None:
        """Prepare; `encode` returns a message for a target."""
        self._settings = settings
        self._encode = encode
        self._connection = RabbitConnection(settings, name="mailqueue publishing")
        self._stack = AsyncExitStack()
        self._channel: AbstractChannel | None = None
        self._exchanges: dict[str, AbstractExchange] = {}
        self._using = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()

    async def publish(
        self, target: str, messages: Sequence[OutgoingMessage], *, until: float
    ) -> PublishResult:
        """Publish each message, until one is not confirmed."""
        loop = asyncio.get_running_loop()
        for confirmed, message in enumerate(messages):
            if loop.time() >= until:
                return PublishResult(confirmed)
            encoded = self._encode(target, message)
            name = encoded.exchange
            if not any(rule.allows(message.project, name) for rule in self._settings.publish):
                return PublishResult(
                    confirmed,
                    f"message {message.message_id}: project {message.project} may not publish to "
                    f"exchange {name}: MAILQUEUE_RABBITMQ_PUBLISH does not name it",
                )
            error = await self._publish(encoded, message)
            if error is not None:
                return PublishResult(confirmed, f"message {message.message_id}: {error}")
            reach("publishing.confirmed")
        return PublishResult(len(messages))

    def rest(self) -> None:
        """Do nothing: the connection is kept, with its heartbeats."""

    def close(self) -> None:
        """Close the connection."""
        task = asyncio.get_running_loop().create_task(self._end())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _publish(self, encoded: EncodedMessage, message: OutgoingMessage) -> str | None:
        """Publish one message; return why it was not confirmed."""
        name, key = encoded.exchange, encoded.key
        kind = ExchangeType.FANOUT if key is None else ExchangeType.TOPIC
        try:
            exchange = await self._exchange(name, kind)
            with broker_errors(self._connection.address):
                await exchange.publish(
                    _amqp(encoded, message),
                    routing_key=key or "",
                    mandatory=True,
                    timeout=REPLY_SECONDS,
                )
        except PublishError:
            return f"exchange {name} has no queue for it"
        except DeliveryError:
            return f"the broker did not take it for exchange {name}"
        except BrokerUnavailable as exc:
            await self._reset()
            return str(exc)
        return None

    async def _exchange(self, name: str, kind: ExchangeType) -> AbstractExchange:
        async with self._using:
            if self._channel is None or self._channel.is_closed:
                await self._forget()
                self._channel = await self._stack.enter_async_context(self._connection.channel())
            if name not in self._exchanges:
                is_checked = self._settings.topology is Topology.CHECK
                with broker_errors(self._connection.address):
                    self._exchanges[name] = await self._channel.declare_exchange(
                        name, kind, durable=True, passive=is_checked, timeout=REPLY_SECONDS
                    )
            return self._exchanges[name]

    async def _reset(self) -> None:
        async with self._using:
            await self._forget()

    async def _forget(self) -> None:
        stack, self._stack = self._stack, AsyncExitStack()
        self._channel = None
        self._exchanges.clear()
        await stack.aclose()

    async def _end(self) -> None:
        await self._reset()
        await self._connection.close()


def _amqp(encoded: EncodedMessage, message: OutgoingMessage) -> Message:
    expires = message.expiration_time
    return Message(
        encoded.body,
        headers=dict(encoded.headers),
        content_type=encoded.content_type,
        message_id=str(message.message_id),
        correlation_id=None if message.correlation_id is None else str(message.correlation_id),
        type=message.message_type[:255],
        timestamp=message.enqueue_time,
        expiration=None if expires is None else max(expires - datetime.now(UTC), _SOON),
        delivery_mode=DeliveryMode.PERSISTENT,
    )
