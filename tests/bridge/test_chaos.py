"""Nothing is lost, doubled or out of order while bridge, workers and broker die."""

import asyncio
import os
import random
import signal
from contextlib import ExitStack, suppress
from pathlib import Path
from uuid import UUID, uuid4

import pika
import pytest
from pika.exceptions import AMQPError

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.bridge import messages
from tests.bridge.messages import Client, masstransit
from tests.bridge.processes import Bridge
from tests.bridge.server import RabbitServer, rabbit_server
from tests.concurrency.running import pids, workers
from tests.inbox import events
from tests.whole.sink import sink

pytestmark = [pytest.mark.anyio, pytest.mark.rabbitmq]
CUSTOMERS = 10


def publish(server: RabbitServer, queue: str, bodies: list[bytes], stop: list[bool]) -> None:
    """Publish each body until it is confirmed, in order; what is in doubt is published again."""
    properties = pika.BasicProperties(content_type=messages.MASSTRANSIT, delivery_mode=2)
    left = list(bodies)
    while left and not stop:
        try:
            connection = pika.BlockingConnection(pika.URLParameters(server.url))
            channel = connection.channel()
            channel.confirm_delivery()
            while left:
                channel.basic_publish("", queue, left[0], properties, mandatory=True)
                left.pop(0)
            connection.close()
        except (AMQPError, OSError):
            continue


async def survive(
    database: DatabaseSettings, conn: Conn, folder: Path, *, count: int, seconds: float
) -> None:
    chosen = random.Random(81)
    project = await events.project_with_template(conn)
    # One mail of a customer after the other, as its conversation says.
    await events.rule(conn, project, variables={"name": "$.number"})
    await conn.execute(
        "SELECT mailqueue.change_project("
        "'default', '{\"ordering\": \"custom_data.conversation_id\"}', 'tests')"
    )
    conversations = [str(uuid4()) for _ in range(CUSTOMERS)]
    ids = [uuid4() for _ in range(count)]
    bodies: list[bytes] = []
    for number, message in enumerate(ids):
        order = {"number": str(number), "customer": {"email": f"n{number}@example.com"}}
        body = masstransit(message, order, conversationId=conversations[number % CUSTOMERS])
        bodies.append(body)
        # Once to three times in all: the others at any later place.
        bodies.extend([body] * chosen.randint(0, 2))
        at = max(0, len(bodies) - 10)
        if chosen.random() < 0.3:
            bodies.append(bodies[chosen.randrange(at, len(bodies))])
    queue, stop = messages.name(), list[bool]()
    with rabbit_server(folder) as server, ExitStack() as stack:
        receiver = await asyncio.to_thread(stack.enter_context, sink())
        await conn.execute("UPDATE mailqueue.sender_accounts SET smtp_port = %s", [receiver.port])
        bridge, client = Bridge(database, server, queue), Client(server)
        publishing = None
        try:
            await bridge.start()
            await client.exists(queue)
            publishing = asyncio.create_task(
                asyncio.to_thread(publish, server, queue, bodies, stop)
            )
            async with workers(database, processes=2, in_flight=8):
                for turn in range(6):
                    await bridge.start()
                    await asyncio.sleep(seconds)
                    if turn in (1, 3):
                        await asyncio.to_thread(server.kill if turn == 1 else server.stop)
                        await asyncio.to_thread(server.start)
                    await bridge.end()
                    for pid in chosen.sample(await pids(conn, 1), 1):
                        with suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                await bridge.start()
                await publishing

                async def is_done() -> bool:
                    query = "SELECT count(*) FROM mailqueue.email_history WHERE status = 'sent'"
                    return int(await make.scalar(conn, query)) >= count

                async with asyncio.timeout(120 + count / 20):
                    while not await is_done():  # noqa: ASYNC110
                        await asyncio.sleep(0.2)
            await bridge.end(signal.SIGTERM)
        finally:
            stop.append(True)
            await bridge.end()
            if publishing is not None:
                await publishing
        arrived = list(dict.fromkeys(receiver.addresses()))

    query = (
        "SELECT custom_data ->> 'message_id' FROM mailqueue.email_history"
        " UNION ALL SELECT custom_data ->> 'message_id' FROM mailqueue.email_queue"
    )
    mailed = [UUID(row[0]) for row in await make.rows(conn, query)]
    assert sorted(mailed) == sorted(ids)
    assert len(arrived) == count
    for customer in range(CUSTOMERS):
        numbers = [int(address[1:].partition("@")[0]) for address in arrived]
        own = [number for number in numbers if number % CUSTOMERS == customer]
        assert own == sorted(own)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.dead_letters") == 0


async def test_300_messages_become_one_mail_each_while_everything_dies(
    database: DatabaseSettings, conn: Conn, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("rabbit") / "own"
    await survive(database, conn, folder, count=300, seconds=1.0)


@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_20000_messages_become_one_mail_each_while_everything_dies(
    database: DatabaseSettings, conn: Conn, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("rabbit") / "own"
    await survive(database, conn, folder, count=20_000, seconds=20.0)
