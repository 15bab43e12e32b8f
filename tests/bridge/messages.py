"""A client of RabbitMQ that is not ours, the bridge in this process, and messages for it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import pika
from pika.adapters.blocking_connection import BlockingChannel

from mailqueue.adapters.rabbitmq.consumer import RabbitBroker
from mailqueue.bridge.model import QueueBinding
from mailqueue.bridge.running import run_bridge
from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import borrow, open_pool
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.settings.rabbitmq import QueueOfProject, RabbitSettings
from tests.bridge.server import RabbitServer
from tests.inbox.events import ORDER

MASSTRANSIT = "application/vnd.masstransit+json"
PATIENCE_SECONDS = 60.0


def settings(server: RabbitServer, queue: str = "orders", **given: Any) -> RabbitSettings:
    """Return settings with one queue of project `default`."""
    usual: dict[str, Any] = {
        "url": Secret(server.url),
        "queues": (QueueOfProject(queue, "default"),),
    }
    return RabbitSettings(**(usual | given))


def name() -> str:
    """Return the name of a queue that no other test has."""
    return f"orders-{uuid4().hex[:12]}"


@asynccontextmanager
async def bridging(database: DatabaseSettings, given: RabbitSettings) -> AsyncIterator[None]:
    """Run the bridge during the block."""
    stop = asyncio.Event()
    ready = asyncio.Event()
    async with open_pool(database) as pool:

        @asynccontextmanager
        async def lend() -> AsyncIterator[Conn]:
            async with borrow(pool, database) as conn:
                yield conn

        running = asyncio.create_task(
            run_bridge(
                RabbitBroker(given),
                [QueueBinding(one.queue, one.project) for one in given.queues],
                lend,
                stop,
                delivery_limit=given.delivery_limit,
                ready=ready.set,
            )
        )
        try:
            yield
            if running.done():
                running.result()
        finally:
            stop.set()
            await running


def masstransit(
    message_id: UUID | None = None,
    message: object = ORDER,
    *,
    type_: str = "OrderPlaced",
    **fields: Any,
) -> bytes:
    """Return a message as MassTransit's JSON serializer writes it."""
    envelope = {
        "messageId": str(message_id or uuid4()),
        "requestId": None,
        "correlationId": None,
        "conversationId": "0197b8f0-0000-7000-8000-0000000000c0",
        "initiatorId": None,
        "sourceAddress": "rabbitmq://localhost/shop_host_bus_x?temporary=true",
        "destinationAddress": f"rabbitmq://localhost/Shop.Contracts:{type_}",
        "responseAddress": None,
        "faultAddress": None,
        "messageType": [f"urn:message:Shop.Contracts:{type_}"],
        "message": message,
        "expirationTime": None,
        "sentTime": "2026-11-23T10:00:00.1234567Z",
        "headers": {},
        "host": {"machineName": "web1", "processName": "shop", "massTransitVersion": "8.3.0.0"},
    }
    return json.dumps(envelope | fields).encode()


class Client:
    """pika, in threads."""

    def __init__(self, server: RabbitServer) -> None:
        self._server = server

    async def publish(
        self,
        queue: str,
        bodies: Sequence[bytes],
        *,
        exchange: str = "",
        content_type: str | None = MASSTRANSIT,
        headers: Mapping[str, Any] | None = None,
        **properties: Any,
    ) -> None:
        """Publish messages and wait until each is confirmed."""
        given = pika.BasicProperties(
            content_type=content_type, headers=dict(headers or {}), delivery_mode=2, **properties
        )

        def send(channel: BlockingChannel) -> None:
            channel.confirm_delivery()
            for body in bodies:
                channel.basic_publish(exchange, queue, body, given, mandatory=True)

        await self.run(send)

    async def take(self, queue: str) -> list[tuple[pika.BasicProperties, bytes]]:
        """Return the messages of a queue, which leave it."""

        def get(channel: BlockingChannel) -> list[tuple[pika.BasicProperties, bytes]]:
            found: list[tuple[pika.BasicProperties, bytes]] = []
            while True:
                method, properties, body = channel.basic_get(queue, auto_ack=True)
                if method is None:
                    return found
                found.append((properties, body))

        taken: list[tuple[pika.BasicProperties, bytes]] = await self.run(get)
        return taken

    async def count(self, queue: str) -> int:
        """Return how many messages of a queue are ready."""
        count: int = await self.run(
            lambda channel: channel.queue_declare(queue, passive=True).method.message_count
        )
        return count

    async def bind(
        self,
        exchange: str,
        queue: str,
        key: str = "",
        kind: str = "fanout",
        *,
        is_declared: bool = False,
    ) -> None:
        """Bind a queue to an exchange, and declare what is not."""

        def declare(channel: BlockingChannel) -> None:
            channel.exchange_declare(exchange, kind, durable=True)
            if not is_declared:
                channel.queue_declare(queue, durable=True, arguments={"x-queue-type": "quorum"})
            channel.queue_bind(queue, exchange, key)

        await self.run(declare)

    async def run(
        self, work: Callable[[BlockingChannel], Any], *, frame_max: int | None = None
    ) -> Any:
        """Run work with a channel, in a connection of its own."""
        parameters = pika.URLParameters(self._server.url)
        if frame_max is not None:
            parameters.frame_max = frame_max

        def connected() -> Any:
            connection = pika.BlockingConnection(parameters)
            try:
                return work(connection.channel())
            finally:
                connection.close()

        return await asyncio.to_thread(connected)

    async def exists(self, queue: str) -> None:
        """Wait until the bridge has declared a queue."""

        async def is_there() -> bool:
            try:
                await self.count(queue)
            except pika.exceptions.ChannelClosedByBroker:
                return False
            return True

        await until(is_there)


async def until(is_done: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await is_done():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
