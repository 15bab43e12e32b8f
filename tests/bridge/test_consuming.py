"""Messages that other clients publish become mail, once each and in order."""

import json
from uuid import UUID, uuid4

import pytest
from cloudevents.core.bindings import rabbitmq as binding
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.settings.rabbitmq import ExchangeOfQueue, Topology
from tests import make
from tests.bridge import messages
from tests.bridge.messages import Client, bridging, masstransit, settings, until
from tests.bridge.server import RabbitServer
from tests.inbox import events
from tests.inbox.events import ORDER

pytestmark = [pytest.mark.anyio, pytest.mark.rabbitmq]


async def emails(conn: Conn) -> list[tuple[str, dict[str, object]]]:
    query = "SELECT recipient_email, custom_data FROM mailqueue.email_queue ORDER BY id"
    return [(row[0], row[1]) for row in await make.rows(conn, query)]


async def received(conn: Conn, count: int) -> None:
    async def is_done() -> bool:
        query = "SELECT coalesce(sum(receive_count), 0) >= %s FROM mailqueue.inbox_state"
        return bool(await make.scalar(conn, query, count))

    await until(is_done)


async def test_a_masstransit_message_becomes_one_mail_however_often_it_is_published(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue, message = Client(rabbit), messages.name(), uuid4()
    correlation = "0197b8f0-0000-7000-8000-0000000000c1"
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    body = masstransit(message, correlationId=correlation, headers={"traceparent": trace})
    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        await client.publish(queue, [body] * 3)
        await received(conn, 3)

        [(recipient, data)] = await emails(conn)
        assert recipient == "ann@example.com"
        assert data["message_id"] == str(message)
        assert data["correlation_id"] == correlation
        assert data["traceparent"] == trace
        assert data["event_type"] == "OrderPlaced"
    assert await client.count(queue) == 0
    assert await client.count(f"{queue}.dead-letters") == 0


async def test_events_of_the_cloudevents_sdk_are_read_in_both_modes(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()
    ids = [str(uuid4()), "order-81"]
    given = [
        CloudEvent(
            attributes={
                "id": one,
                "source": "/shop",
                "type": "OrderPlaced",
                "specversion": "1.0",
                "datacontenttype": "application/json",
                "correlationid": f"c-{one}",
            },
            data=ORDER,
        )
        for one in ids
    ]
    structured = binding.to_structured(given[0], JSONFormat())
    binary = binding.to_binary(given[1], JSONFormat())
    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        for one in (structured, binary, binary):
            await client.publish(
                queue, [one.body], content_type=one.content_type, headers=one.headers
            )
        await received(conn, 3)

        found = [data["correlation_id"] for _, data in await emails(conn)]
        assert found == [f"c-{one}" for one in ids]


async def test_plain_json_with_an_id_and_a_type_is_an_event(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue, message = Client(rabbit), messages.name(), str(uuid4())
    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        await client.publish(
            queue,
            [json.dumps(ORDER).encode()] * 2,
            content_type="application/json",
            message_id=message,
            type="OrderPlaced",
        )
        await received(conn, 2)

        assert [data["message_id"] for _, data in await emails(conn)] == [message]


async def test_two_queues_handle_one_message_once_each(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, first, second = Client(rabbit), messages.name(), messages.name()
    exchange = f"Shop.Contracts:{first}"
    bound = tuple(ExchangeOfQueue(exchange, queue) for queue in (first, second))
    one, other = settings(rabbit, first, bindings=bound), settings(rabbit, second, bindings=bound)
    async with bridging(database, one), bridging(database, other):
        await client.exists(first)
        await client.exists(second)

        async def is_bound() -> bool:
            reports = await make.rows(conn, "SELECT state FROM mailqueue.broker_queues")
            return reports == [("consuming",)] * 2

        await until(is_bound)
        await client.publish("", [masstransit()], exchange=exchange)
        await received(conn, 2)

        assert len(await emails(conn)) == 2


async def test_messages_of_a_queue_are_handled_in_its_order(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()
    ids = [uuid4() for _ in range(100)]
    # Two bridges: one at a time takes the messages of the queue.
    async with (
        bridging(database, settings(rabbit, queue, prefetch=7)),
        bridging(database, settings(rabbit, queue, prefetch=7)),
    ):
        await client.exists(queue)
        await client.publish(queue, [masstransit(one) for one in ids])
        await received(conn, len(ids))

        query = "SELECT message_id FROM mailqueue.inbox_state ORDER BY id"
        assert [UUID(str(row[0])) for row in await make.rows(conn, query)] == ids


async def test_a_queue_that_is_only_checked_is_not_declared(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()
    async with bridging(database, settings(rabbit, queue, topology=Topology.CHECK)):

        async def is_missed() -> bool:
            query = "SELECT reason LIKE %s FROM mailqueue.broker_queues WHERE name = %s"
            return bool(await make.scalar(conn, query, f"%{queue}%", queue))

        await until(is_missed)
        found = await make.rows(
            conn, "SELECT state, found FROM mailqueue.health WHERE name = 'rabbitmq'"
        )
        assert found[0][0] == "warning"
        assert queue in found[0][1]

        await client.run(
            lambda channel: [
                channel.queue_declare(one, durable=True) for one in (f"{queue}.dead-letters", queue)
            ]
        )
        await client.publish(queue, [masstransit()])
        await received(conn, 1)

        assert len(await emails(conn)) == 1
