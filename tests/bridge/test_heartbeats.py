"""A broker that keeps its connection and answers nothing is noticed by its missing heartbeats."""

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.bridge import messages
from tests.bridge.messages import Client, bridging, masstransit, settings, until
from tests.bridge.server import RabbitServer
from tests.inbox import events

pytestmark = [pytest.mark.anyio, pytest.mark.rabbitmq]


async def test_a_silent_broker_is_left_and_messages_go_on_once_it_answers(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()

    async def is_in(state: str) -> bool:
        query = "SELECT state = %s FROM mailqueue.broker_queues WHERE name = %s"
        return bool(await make.scalar(conn, query, state, queue))

    async with bridging(database, settings(rabbit, queue, heartbeat_s=1)):
        await client.exists(queue)
        await until(lambda: is_in("consuming"))
        with rabbit.silenced():
            await until(lambda: is_in("unavailable"))
        await client.publish(queue, [masstransit()])

        async def is_mail() -> bool:
            return bool(await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue"))

        await until(is_mail)
        assert await is_in("consuming")
