"""The bridge works over TLS, checks the certificate of the broker, and shows its own."""

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.settings.environment import DatabaseSettings
from tests import make
from tests.bridge import messages
from tests.bridge.messages import Client, bridging, masstransit, settings, until
from tests.bridge.server import RabbitServer
from tests.inbox import events

pytestmark = [pytest.mark.anyio, pytest.mark.rabbitmq]


async def test_messages_become_mail_over_tls(
    large_frames: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.rule(conn, await events.project_with_template(conn))
    client, queue = Client(large_frames), messages.name()
    given = settings(
        large_frames,
        queue,
        url=Secret(large_frames.tls_url),
        ca=large_frames.certificate,
        certificate=large_frames.client_certificate,
        certificate_key=large_frames.client_key,
    )
    async with bridging(database, given):
        await client.exists(queue)
        await client.publish(queue, [masstransit(), b"no event"])

        async def is_done() -> bool:
            query = (
                "SELECT (SELECT count(*) FROM mailqueue.email_queue)"
                " + (SELECT count(*) FROM mailqueue.dead_letters) = 2"
            )
            return bool(await make.scalar(conn, query))

        await until(is_done)


async def test_a_broker_of_an_unknown_authority_is_not_used(
    large_frames: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.project_with_template(conn)
    queue = messages.name()
    given = settings(large_frames, queue, url=Secret(large_frames.tls_url))
    async with bridging(database, given):

        async def is_refused() -> bool:
            query = (
                "SELECT state = 'unavailable' AND reason ILIKE '%%certificate verify failed%%'"
                " FROM mailqueue.broker_queues WHERE name = %s"
            )
            return bool(await make.scalar(conn, query, queue))

        await until(is_refused)


async def test_a_broker_that_asks_for_a_certificate_refuses_a_bridge_without_one(
    large_frames: RabbitServer, database: DatabaseSettings, conn: Conn
) -> None:
    await events.project_with_template(conn)
    queue = messages.name()
    given = settings(
        large_frames, queue, url=Secret(large_frames.tls_url), ca=large_frames.certificate
    )
    async with bridging(database, given):

        async def is_refused() -> bool:
            query = (
                "SELECT state = 'unavailable' AND reason ILIKE '%%certificate required%%'"
                " FROM mailqueue.broker_queues WHERE name = %s"
            )
            return bool(await make.scalar(conn, query, queue))

        await until(is_refused)
