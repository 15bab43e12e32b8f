"""A message that cannot be handled stops nothing: its reason is where people look."""

import json
from typing import Any

import pytest

from mailqueue.bridge import intake, letters
from mailqueue.bridge.handling import handle
from mailqueue.bridge.model import Dead, QueueBinding, consumer_of
from mailqueue.db.fetch import Conn
from mailqueue.ports.broker import BrokerMessage
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.bridge import messages
from tests.bridge.messages import Client, bridging, masstransit, settings, until
from tests.bridge.server import RabbitServer
from tests.inbox import events
from tests.inbox.events import ORDER

pytestmark = [pytest.mark.anyio, pytest.mark.rabbitmq]


async def mails(conn: Conn) -> int:
    return int(await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue"))


async def reasons(client: Client, queue: str) -> list[str]:
    """Return the reasons in the dead-letter queue, whose messages leave it."""
    return [
        properties.headers["mailqueue-reason"]
        for properties, _ in await client.take(f"{queue}.dead-letters")
    ]


async def test_poison_goes_to_the_dead_letter_queue_and_the_others_go_on(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()
    unknown = json.dumps({"messageId": "x", "messageType": ["urn:message:A:B"], "message": {}})
    poison = [b"\x00\xff", b"[1]", unknown.encode(), masstransit(message={"a": "\0"})]
    bodies = [one for each in poison for one in (each, masstransit())]
    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        await client.publish(queue, bodies)

        async def is_done() -> bool:
            return await mails(conn) == 4 and await client.count(f"{queue}.dead-letters") == 4

        await until(is_done)

    found = await reasons(client, queue)
    assert found[0].startswith("body: not JSON")
    assert found[1] == "body: an object is needed, got list"
    assert found[2] == "message id: a UUID is needed, got 'x'"
    # The last is an event that failed: the inbox has it.
    assert "not JSON that can be stored" in found[3]
    query = "SELECT reason FROM mailqueue.dead_letters ORDER BY id"
    assert [row[0] for row in await make.rows(conn, query)] == found[:3]
    failed = "SELECT count(*) FROM mailqueue.inbox_state WHERE status = 'failed'"
    assert await make.scalar(conn, failed) == 1
    health = "SELECT state, found, fix FROM mailqueue.health WHERE name = 'dead letters'"
    [(state, said, fix)] = await make.rows(conn, health)
    assert state == "warning"
    assert "3 of default, the last at" in said
    assert f"from queue {queue} (message id: a UUID is needed, got 'x')" in said
    assert "mailqueue bridge replay" in fix


async def test_an_event_whose_rule_fails_is_in_the_dead_letter_queue_too(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn), template="missing")
    client, queue = Client(rabbit), messages.name()
    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        await client.publish(queue, [masstransit()])

        async def is_there() -> bool:
            return await client.count(f"{queue}.dead-letters") == 1

        await until(is_there)

    [reason] = await reasons(client, queue)
    assert reason.startswith("rule placed: ")
    assert "missing" in reason


async def test_a_message_that_was_delivered_too_often_is_given_up(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(rabbit), messages.name()
    given = settings(rabbit, queue, delivery_limit=2)
    async with bridging(database, given):
        await client.exists(queue)
    await client.publish(queue, [masstransit()])
    for _ in range(2):
        await client.run(lambda channel: next(channel.consume(queue)))  # the connection is lost

    async with bridging(database, given):

        async def is_kept() -> bool:
            return bool(await make.scalar(conn, "SELECT count(*) FROM mailqueue.dead_letters"))

        await until(is_kept)

    assert await reasons(client, queue) == ["it was delivered 3 times and never finished"]
    assert await mails(conn) == 0
    [(deliveries, type_)] = await make.rows(
        conn, "SELECT deliveries, type FROM mailqueue.dead_letters"
    )
    assert (deliveries, type_) == (3, "OrderPlaced")


async def test_an_unexpected_error_of_one_message_is_tried_again_and_then_its_own(
    rabbit: RabbitServer, database: DatabaseSettings, conn: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = await events.project_with_template(conn)
    await events.rule(conn, project)
    tries: list[Any] = []

    async def broken(conn: Conn, binding: QueueBinding, group: Any) -> Any:
        tries.extend(one for one in group if b"poison" in one.body)
        if any(b"poison" in one.body for one in group):
            raise RuntimeError("it breaks")
        return await handle(conn, binding, group)

    monkeypatch.setattr(intake, "handle", broken)
    client, queue = Client(rabbit), messages.name()
    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        await client.publish(
            queue, [masstransit(), masstransit(message=ORDER | {"kind": "poison"}), masstransit()]
        )

        async def is_done() -> bool:
            return await mails(conn) == 2

        await until(is_done)

    assert await reasons(client, queue) == ["RuntimeError: it breaks"]
    assert tries


@pytest.mark.parametrize("text", ["a\0b", "\U0001f600" * 300, "x" * 5000, "'; DROP", '{"a": 1}'])
async def test_whatever_a_hostile_message_says_can_be_kept(text: str, conn: Conn) -> None:
    binding = QueueBinding("orders", "default")
    message = BrokerMessage(
        1,
        text.encode(),
        content_type=text,
        message_id=text,
        type=text,
        correlation_id=text,
        headers={"a": text, "b": [text, {"c": text}], text: 1},
    )
    outcomes = await handle(conn, binding, [message])
    assert isinstance(outcomes[0], Dead)

    first = await letters.keep(conn, binding, message, outcomes[0])

    assert await letters.keep(conn, binding, message, outcomes[0]) == first


async def test_old_dead_letters_leave_where_a_project_has_ten_thousand(conn: Conn) -> None:
    await conn.execute(
        "INSERT INTO mailqueue.dead_letters (project_id, queue, digest, reason)"
        " SELECT p.id, 'orders', decode(md5(n::text), 'hex'), 'old'"
        " FROM mailqueue.projects AS p, generate_series(1, 10000) AS n WHERE p.name = 'default'"
    )
    binding = QueueBinding("orders", "default")
    kept = await letters.keep(conn, binding, BrokerMessage(1, b"{}"), Dead("new"))

    assert await make.scalar(conn, "SELECT count(*) FROM mailqueue.dead_letters") == 10_000
    newest = "SELECT count(*) FROM mailqueue.dead_letters WHERE id = %s"
    assert await make.scalar(conn, newest, kept) == 1


def test_consumers_differ_by_queue_and_project() -> None:
    assert consumer_of("orders", "shop") == consumer_of("orders", "shop")
    assert len({consumer_of(a, b) for a in ("x", "y") for b in ("x", "y")}) == 4
