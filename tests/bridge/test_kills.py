"""A bridge that is killed at any step loses no message and handles none twice."""

import signal

import pytest

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.bridge import messages
from tests.bridge.messages import Client, masstransit, until
from tests.bridge.processes import Bridge
from tests.bridge.server import RabbitServer
from tests.inbox import events

pytestmark = [pytest.mark.anyio, pytest.mark.rabbitmq]


@pytest.mark.parametrize("point", ["bridge.committed", "bridge.kept", "bridge.dead_lettered"])
async def test_what_was_in_hand_at_a_kill_is_taken_again_and_handled_once(
    point: str, rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()
    bodies = [masstransit() for _ in range(6)]
    bridge = Bridge(database, rabbit, queue)
    try:
        process = await bridge.start(f"{point} kill 1")
        await client.exists(queue)
        await client.publish(queue, [*bodies[:3], b"poison", *bodies[3:]])
        await process.wait()
        assert process.returncode == -signal.SIGKILL
        await bridge.start()

        async def is_done() -> bool:
            mails = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue")
            left = await client.count(queue)
            return mails == len(bodies) and left == 0

        await until(is_done)

        async def is_dead() -> bool:
            return await client.count(f"{queue}.dead-letters") >= 1

        await until(is_dead)
        assert (await bridge.end(signal.SIGTERM))[-1] == 0
    finally:
        await bridge.end()

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.inbox_state") == len(bodies)
    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.dead_letters") == 1
    copies = await client.take(f"{queue}.dead-letters")
    assert {body for _, body in copies} == {b"poison"}
    assert len(copies) == (2 if point == "bridge.dead_lettered" else 1)
    state = "SELECT state FROM mailqueue.broker_queues WHERE name = %s"
    assert await make.scalar(conn, state, queue) == "stopped"
