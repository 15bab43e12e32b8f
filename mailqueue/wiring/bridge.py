"""Dependencies of the bridge to RabbitMQ."""

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mailqueue.bridge.model import QueueBinding
from mailqueue.bridge.running import run_bridge
from mailqueue.core.errors import ConfigError
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import Pool, borrow
from mailqueue.ports.broker import Broker
from mailqueue.ports.publisher import Publisher
from mailqueue.publishing.encoding import encode
from mailqueue.settings.environment import Settings
from mailqueue.settings.rabbitmq import RabbitSettings

_NEEDED = "RabbitMQ needs the package aio-pika: pip install 'mailqueue[rabbitmq]'"


def broker_of(settings: RabbitSettings) -> Broker:
    """Return the broker that the settings name.

    Raises:
        ConfigError: a setting or the package is missing.
    """
    settings.check()
    broker: Broker = _adapter("consumer").RabbitBroker(settings)
    return broker


def _adapter(name: str) -> Any:
    """Return a module of the adapter, which needs the extra."""
    try:
        return importlib.import_module(f"mailqueue.adapters.rabbitmq.{name}")
    except ImportError as exc:
        raise ConfigError(_NEEDED) from exc


def bindings_of(settings: RabbitSettings) -> list[QueueBinding]:
    """Return the queues that are consumed.

    Raises:
        ConfigError: there are none.
    """
    if not settings.queues:
        raise ConfigError(
            "MAILQUEUE_RABBITMQ_QUEUES: required: the queues whose messages are events, each with "
            "its project, such as orders=shop"
        )
    return [QueueBinding(one.queue, one.project) for one in settings.queues]


def publishers_of(settings: RabbitSettings) -> dict[str, Publisher]:
    """Return the publishers beside webhooks, by the name of their transport.

    Raises:
        ConfigError: a setting or the package is missing.
    """
    if settings.url is None:
        return {}
    settings.check()
    return {"rabbitmq": _adapter("publisher").RabbitPublisher(settings, encode)}


async def run(
    settings: Settings, pool: Pool, stop: asyncio.Event, *, ready: Callable[[], None]
) -> None:
    """Take events from queues of RabbitMQ until `stop` is set.

    Raises:
        ConfigError: a setting or the package is missing.
    """
    given = settings.rabbitmq
    bindings, broker = bindings_of(given), broker_of(given)

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with borrow(pool, settings.database) as conn:
            yield conn

    await run_bridge(broker, bindings, lend, stop, delivery_limit=given.delivery_limit, ready=ready)
