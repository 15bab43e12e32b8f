"""A message becomes mail, and what becomes of the mail is published under the same ids."""

import json
from uuid import uuid4

import pytest
from cloudevents.core.bindings import rabbitmq as binding
from cloudevents.core.bindings.rabbitmq import RabbitMQMessage
from cloudevents.core.formats.json import JSONFormat

from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.bridge import messages
from tests.bridge.messages import Client, bridging, masstransit, settings, until
from tests.bridge.server import RabbitServer
from tests.bridge.test_publishing import EVERY, add, published, publishing
from tests.inbox import events
from tests.webhooks.delivering import told

pytestmark = [pytest.mark.anyio, pytest.mark.rabbitmq]
CORRELATION = "0197b8f0-0000-7000-8000-0000000000c1"
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
DELIVERED = "email.delivered"


@pytest.mark.parametrize("form", ["masstransit", "cloudevents", "cloudevents-binary"])
async def test_what_became_of_the_mail_of_a_message_is_published_under_its_ids(
    form: str, rabbit: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue, heard = Client(rabbit), messages.name(), messages.name()
    exchange = f"shop.{heard}"
    if form == "masstransit":
        await client.bind(exchange, heard)
    else:
        await client.bind(exchange, heard, DELIVERED, "topic")
    await add(conn, f"{form}:{exchange}", "mail")
    assert await make.scalar(
        conn,
        "SELECT mailqueue.change_outbox_events(project_id, name, %s, 'tests')"
        " FROM mailqueue.outbox_state",
        [DELIVERED],
    )

    async def is_mail() -> bool:
        count = await make.scalar(conn, "SELECT count(*) FROM mailqueue.email_queue")
        return bool(count == 1)

    async with bridging(database, settings(rabbit, queue)):
        await client.exists(queue)
        body = masstransit(uuid4(), correlationId=CORRELATION, headers={"traceparent": TRACE})
        await client.publish(queue, [body])
        await until(is_mail)
    email_id = await make.scalar(conn, "SELECT id FROM mailqueue.email_queue")
    await told(conn, email_id=email_id)
    async with publishing(database, settings(rabbit, publish=EVERY)):
        await until(lambda: published(conn))

    [(properties, written)] = await client.take(heard)
    if form == "masstransit":
        envelope = json.loads(written)
        found, trace, said = (
            envelope["correlationId"],
            envelope["headers"]["traceparent"],
            envelope["message"],
        )
        assert envelope["messageType"] == [f"urn:message:{DELIVERED}"]
        assert envelope["messageId"] == said["data"]["event_id"]
    else:
        read = binding.from_structured if form == "cloudevents" else binding.from_binary
        event = read(
            RabbitMQMessage(properties.headers, properties.content_type, written), JSONFormat()
        )
        attributes, said = event.get_attributes(), event.get_data()
        found, trace = attributes["correlationid"], attributes["traceparent"]
        assert event.get_type() == DELIVERED
        assert isinstance(said, dict)
        assert event.get_id() == said["data"]["event_id"]
    assert (found, trace) == (CORRELATION, TRACE)
    assert (said["type"], said["data"]["email_id"]) == (DELIVERED, str(email_id))
