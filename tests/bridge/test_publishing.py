"""Outboxes that publish to RabbitMQ: in order, confirmed, in the formats of others."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import pytest
from cloudevents.core.bindings import rabbitmq as binding
from cloudevents.core.bindings.rabbitmq import RabbitMQMessage
from cloudevents.core.formats.json import JSONFormat

from mailqueue.adapters.http.poster import HttpPoster
from mailqueue.adapters.rabbitmq.publisher import RabbitPublisher
from mailqueue.core.queues.registry import queue_named
from mailqueue.db.fetch import Conn
from mailqueue.ports.publisher import OutgoingMessage
from mailqueue.publishing.encoding import encode, exchange_of
from mailqueue.publishing.handler import PublishingHandler
from mailqueue.publishing.webhook import WebhookPublisher
from mailqueue.queue.in_progress import InProgress
from mailqueue.queue.process import Kind, run_queues
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.settings.rabbitmq import PublishRule, RabbitSettings
from tests import make
from tests.bridge import messages
from tests.bridge.messages import Client, settings, until
from tests.bridge.server import RabbitServer, rabbit_server
from tests.publishing import outboxes
from tests.webhooks.delivering import LOOPBACK, master

pytestmark = [pytest.mark.anyio, pytest.mark.rabbitmq]
EVERY = (PublishRule("default", "*"),)


@asynccontextmanager
async def publishing(database: DatabaseSettings, given: RabbitSettings) -> AsyncIterator[None]:
    """Run a worker during the block."""
    stop = asyncio.Event()
    handler = PublishingHandler(
        WebhookPublisher(HttpPoster(LOOPBACK), master), {"rabbitmq": RabbitPublisher(given, encode)}
    )
    kinds = [Kind(queue_named("publishing"), lambda: handler)]
    running = asyncio.create_task(
        run_queues(database, kinds, stop, launch_id=uuid4(), in_progress=InProgress())
    )
    try:
        yield
        if running.done():
            running.result()
    finally:
        stop.set()
        await running


async def add(conn: Conn, target: str, name: str = "default") -> UUID:
    found: UUID = await make.scalar(
        conn,
        "SELECT mailqueue.add_outbox(p.id, %s, 'rabbitmq', %s, 'tests')"
        " FROM mailqueue.projects AS p WHERE p.name = 'default'",
        name,
        target,
    )
    return found


async def published(conn: Conn) -> bool:
    query = "SELECT bool_and(status = 'published') FROM mailqueue.outbox_message"
    return bool(await make.scalar(conn, query))


async def test_messages_reach_a_queue_in_order_in_masstransits_envelope(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    client, queue = Client(rabbit), messages.name()
    await client.bind("OrderPlaced", queue)
    await add(conn, "masstransit")
    written = [await outboxes.publish(conn, number) for number in range(250)]
    async with publishing(database, settings(rabbit, publish=EVERY)):
        await until(lambda: published(conn))

    found = await client.take(queue)
    assert [UUID(properties.message_id) for properties, _ in found] == written
    properties, body = found[7]
    assert properties.content_type == "application/vnd.masstransit+json"
    assert properties.delivery_mode == 2
    envelope = json.loads(body)
    assert envelope["messageId"] == str(written[7])
    assert envelope["messageType"] == ["urn:message:OrderPlaced"]
    assert envelope["message"] == {"number": 7}


@pytest.mark.parametrize("form", ["cloudevents", "cloudevents-binary"])
async def test_the_cloudevents_sdk_reads_what_is_published(
    form: str, rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    client, queue = Client(rabbit), messages.name()
    exchange = f"shop.{queue}"
    await client.bind(exchange, queue, "OrderPlaced", "topic")
    await add(conn, f"{form}:{exchange}")
    correlation = uuid4()
    written = await make.scalar(
        conn,
        "SELECT mailqueue.publish('OrderPlaced', %s, correlation_id => %s, headers => %s)",
        '{"number": 1}',
        correlation,
        '{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}',
    )
    async with publishing(database, settings(rabbit, publish=EVERY)):
        await until(lambda: published(conn))

    [(properties, body)] = await client.take(queue)
    message = RabbitMQMessage(properties.headers, properties.content_type, body)
    read = binding.from_structured if form == "cloudevents" else binding.from_binary
    event = read(message, JSONFormat())
    assert event.get_id() == str(written)
    assert event.get_type() == "OrderPlaced"
    assert event.get_data() == {"number": 1}
    attributes = event.get_attributes()
    assert attributes["correlationid"] == str(correlation)
    assert attributes["traceparent"].startswith("00-4bf92f")


async def test_a_message_without_a_queue_waits_and_those_behind_it_too(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    client, queue = Client(rabbit), messages.name()
    exchange = f"shop.{queue}"
    await add(conn, f"masstransit:{exchange}")
    written = [await outboxes.publish(conn, number) for number in range(3)]
    async with publishing(database, settings(rabbit, publish=EVERY)):

        async def is_told() -> bool:
            query = "SELECT last_error FROM mailqueue.outbox_state"
            said = str(await make.scalar(conn, query))
            return f"message {written[0]}: exchange {exchange} has no queue for it" in said

        await until(is_told)
        assert not await published(conn)
        await client.bind(exchange, queue)
        await until(lambda: published(conn))

    assert [UUID(p.message_id) for p, _ in await client.take(queue)] == written


async def test_a_project_publishes_only_where_the_installation_allows_it(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    client, queue = Client(rabbit), messages.name()
    await client.bind("secrets", queue)
    await add(conn, "masstransit")
    rules = (PublishRule("other", "*"), PublishRule("default", "shop.*"))
    address = "rabbitmq://localhost/secrets?durable=true"
    await make.rows(
        conn, "SELECT mailqueue.publish('shop.A', '{}', destination_address => %s)", address
    )
    async with publishing(database, settings(rabbit, publish=rules)):

        async def is_told() -> bool:
            said = str(await make.scalar(conn, "SELECT last_error FROM mailqueue.outbox_state"))
            return "project default may not publish to exchange secrets" in said

        await until(is_told)
    assert await client.take(queue) == []


async def test_publishing_goes_on_after_the_broker_was_stopped(
    database: DatabaseSettings, conn: Conn, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with rabbit_server(tmp_path_factory.mktemp("rabbit") / "own") as server:
        client, queue = Client(server), messages.name()
        await client.bind("OrderPlaced", queue)
        await add(conn, "masstransit")
        first = [await outboxes.publish(conn, number) for number in range(5)]
        async with publishing(database, settings(server, publish=EVERY)):
            await until(lambda: published(conn))
            await asyncio.to_thread(server.stop)
            rest = [await outboxes.publish(conn, number) for number in range(5)]

            async def is_told() -> bool:
                said = str(await make.scalar(conn, "SELECT last_error FROM mailqueue.outbox_state"))
                return f"RabbitMQ at 127.0.0.1:{server.port}" in said

            await until(is_told)
            await asyncio.to_thread(server.start)
            await until(lambda: published(conn))

        found = [UUID(properties.message_id) for properties, _ in await client.take(queue)]
        assert list(dict.fromkeys(found)) == first + rest


@pytest.mark.parametrize(
    "target", ["", "masstransit:", "cloudevents", "xml:orders", "masstransit:a b", "cloudevents:ö"]
)
async def test_a_target_that_is_none_is_refused(target: str, conn: Conn) -> None:
    with pytest.raises(Exception, match="target: masstransit, masstransit:EXCHANGE"):
        await add(conn, target)


@pytest.mark.parametrize(
    ("address", "named", "exchange"),
    [
        (None, "", "Shop.Contracts:OrderPlaced"),
        (None, "events", "events"),
        ("queue:orders", "events", "orders"),
        ("exchange:orders?type=topic", "", "orders"),
        ("rabbitmq://mq.example.com:5672/shop/orders?durable=true", "", "orders"),
        ("https://example.com/orders", "events", "events"),
    ],
)
def test_an_address_of_masstransit_names_the_exchange(
    address: str | None, named: str, exchange: str
) -> None:
    types = "urn:message:Shop.Contracts:OrderPlaced;urn:message:Shop.Contracts:Event"
    message = OutgoingMessage(
        "default",
        "orders",
        1,
        uuid4(),
        types,
        "{}",
        "application/json",
        destination_address=address,
    )
    assert exchange_of(message, named) == exchange
