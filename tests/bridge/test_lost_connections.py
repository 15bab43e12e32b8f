"""Connections that the broker ends before it has spoken."""

import asyncio

import pytest

from mailqueue.adapters.rabbitmq.connection import RabbitConnection
from mailqueue.core.secret import Secret
from mailqueue.ports.broker import BrokerUnavailable
from mailqueue.settings.rabbitmq import RabbitSettings

pytestmark = pytest.mark.anyio


async def test_a_connection_that_the_broker_ends_at_once_is_closed_here_too() -> None:
    received = asyncio.Queue[bytes]()

    async def end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write_eof()
        await received.put(await reader.read())  # up to the end of our side
        writer.close()

    async with await asyncio.start_server(end, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        settings = RabbitSettings(url=Secret(f"amqp://guest:guest@127.0.0.1:{port}/"))
        connection = RabbitConnection(settings, name="test")
        with pytest.raises(BrokerUnavailable, match=f"RabbitMQ at 127.0.0.1:{port}"):
            async with connection.channel():
                pass
        assert (await received.get()).startswith(b"AMQP")
