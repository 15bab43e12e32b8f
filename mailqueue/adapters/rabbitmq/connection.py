"""One connection to RabbitMQ, opened when it is needed and again after it was lost."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from urllib.parse import urlsplit

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractConnection
from aiormq.exceptions import AMQPError, DeliveryError, PublishError
from yarl import URL

from mailqueue.adapters.rabbitmq.frames import ReadableConnection
from mailqueue.core.errors import ConfigError
from mailqueue.ports.broker import BrokerUnavailable
from mailqueue.settings.rabbitmq import RabbitSettings

CONNECT_SECONDS = 10.0
CLOSE_SECONDS = 2.0
"""Seconds in which a channel or connection is closed in order; otherwise it is dropped."""
REPLY_SECONDS = 30.0
"""Seconds in which the broker has to answer a request or confirm a message."""


class RabbitConnection:
    """A connection that its users share. Mutable."""

    def __init__(self, settings: RabbitSettings, *, name: str) -> None:
        """Prepare; `name` is what operators of the broker see."""
        self._settings = settings
        self._name = name
        self._opening = asyncio.Lock()
        self._connection: AbstractConnection | None = None

    @asynccontextmanager
    async def channel(self, *, confirms: bool = True) -> AsyncIterator[AbstractChannel]:
        """Yield a channel, and close it after the block.

        Raises:
            BrokerUnavailable: the broker cannot be used now, or refuses what the block asks for.
        """
        with broker_errors(self.address):
            channel = await self._open_channel(confirms=confirms)
            try:
                yield channel
            finally:
                with suppress(AMQPError, OSError, TimeoutError, RuntimeError):
                    async with asyncio.timeout(CLOSE_SECONDS):
                        await channel.close()

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(AMQPError, OSError, TimeoutError, RuntimeError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await connection.close()

    @property
    def address(self) -> str:
        """Return host and port of the broker, for people."""
        url = self._settings.url
        parts = urlsplit("" if url is None else url.reveal())
        return f"{parts.hostname}:{parts.port or (5671 if parts.scheme == 'amqps' else 5672)}"

    async def _open_channel(self, *, confirms: bool) -> AbstractChannel:
        async with self._opening:
            if self._connection is None or self._connection.is_closed:
                self._connection = await self._connect()
            channel = self._connection.channel(
                publisher_confirms=confirms, on_return_raises=confirms
            )
            try:
                async with asyncio.timeout(REPLY_SECONDS):
                    await channel.initialize()
            except (AMQPError, OSError, RuntimeError):
                await self.close()  # a connection that was lost does not say so
                raise
            return channel

    async def _connect(self) -> AbstractConnection:
        given = self._settings
        url = URL(await self._url())
        if "heartbeat" not in url.query:  # aio-pika reads it from the URL alone
            url = url.update_query(heartbeat=given.heartbeat_s)
        return await aio_pika.connect(
            url,
            ssl_context=_context(given) if url.scheme == "amqps" else None,
            timeout=CONNECT_SECONDS,
            client_properties={"connection_name": self._name},
            connection_class=ReadableConnection,
        )

    async def _url(self) -> str:
        """Return the URL with the password; a program that prints it runs in a thread."""
        given = self._settings
        if given.password_command is None:
            return given.url_with_password()
        try:
            return await asyncio.to_thread(given.url_with_password)
        except ConfigError as exc:
            raise BrokerUnavailable(f"RabbitMQ at {self.address}: {exc}") from exc


@contextmanager
def broker_errors(address: str) -> Iterator[None]:
    """Raise errors of the broker in the block as BrokerUnavailable."""
    try:
        yield
    except (PublishError, DeliveryError):
        raise
    except TimeoutError as exc:
        raise BrokerUnavailable(f"RabbitMQ at {address}: no answer in time") from exc
    except (AMQPError, OSError, RuntimeError) as exc:
        said = str(exc) or type(exc).__name__
        raise BrokerUnavailable(f"RabbitMQ at {address}: {said}"[:500]) from exc


def _context(given: RabbitSettings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=given.ca)
    except (OSError, ssl.SSLError) as exc:
        raise ConfigError(f"MAILQUEUE_RABBITMQ_CA: {given.ca}: {exc}") from exc
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if given.certificate is not None:
        try:
            context.load_cert_chain(given.certificate, given.certificate_key)
        except (OSError, ssl.SSLError) as exc:
            raise ConfigError(
                f"MAILQUEUE_RABBITMQ_CERTIFICATE: {given.certificate}: {exc}"
            ) from exc
    return context
