"""At a bound of its project the bridge takes nothing more, loses nothing, and goes on later."""

import pytest

from mailqueue.bridge import intake
from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.bridge import messages
from tests.bridge.messages import Client, bridging, masstransit, settings, until
from tests.bridge.server import RabbitServer
from tests.inbox import events

pytestmark = [pytest.mark.anyio, pytest.mark.rabbitmq]
MESSAGES = 30


@pytest.mark.parametrize("hold_seconds", [intake.HOLD_SECONDS, 0.3])
async def test_messages_wait_in_the_broker_while_the_project_is_full(
    hold_seconds: float,
    rabbit: RabbitServer,
    database: DatabaseSettings,
    conn: Conn,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(intake, "HOLD_SECONDS", hold_seconds)
    await events.rule(conn, await events.project_with_template(conn))
    await conn.execute(
        "SELECT mailqueue.change_project('default', '{\"max_events\": 10}', 'tests')"
    )
    client, queue = Client(rabbit), messages.name()
    # With the short time it is returned to the broker more often than messages may be delivered.
    given = settings(rabbit, queue, prefetch=5, delivery_limit=10)
    async with bridging(database, given):
        await client.exists(queue)
        await client.publish(queue, [masstransit() for _ in range(MESSAGES)])

        async def is_waiting() -> bool:
            query = (
                "SELECT state = 'waiting' AND reason LIKE '%%is full%%'"
                " FROM mailqueue.broker_queues"
            )
            return bool(await make.scalar(conn, query))

        await until(is_waiting)
        if hold_seconds < 1:

            async def is_redelivered() -> bool:
                query = (
                    "SELECT max(seen_at) > min(created_at) + interval '4 s'"
                    " FROM mailqueue.broker_queues"
                )
                return bool(await make.scalar(conn, query))

            await until(is_redelivered)
        events_kept = await make.scalar(conn, "SELECT count(*) FROM mailqueue.inbox_state")
        assert 0 < events_kept < MESSAGES
        [(state, said)] = await make.rows(
            conn, "SELECT state, found FROM mailqueue.health WHERE name = 'rabbitmq'"
        )
        assert state == "warning"
        assert queue in said

        await conn.execute(
            "SELECT mailqueue.change_project('default', '{\"max_events\": null}', 'tests')"
        )

        async def is_done() -> bool:
            query = "SELECT count(*) FROM mailqueue.inbox_state WHERE status = 'handled'"
            return bool(await make.scalar(conn, query) == MESSAGES)

        await until(is_done)
    assert await client.count(f"{queue}.dead-letters") == 0
    assert await client.count(queue) == 0
