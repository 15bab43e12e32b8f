"""Queues and exchanges of the bridge: declared, or only looked for."""

from aio_pika import ExchangeType
from aio_pika.abc import AbstractChannel, AbstractQueue

from mailqueue.settings.rabbitmq import RabbitSettings, Topology

BROKER_LIMIT_FACTOR = 5
"""The broker itself gives a message up after that many times the limit of the bridge."""
MAX_DEAD_LETTERS = 100_000
"""Messages of a dead-letter queue; the oldest leave it."""


def dead_letter_queue_of(queue: str) -> str:
    """Return the name of a queue's dead-letter queue."""
    return f"{queue}.dead-letters"


async def prepare_queue(
    channel: AbstractChannel, settings: RabbitSettings, name: str
) -> AbstractQueue:
    """Declare a queue, its dead-letter queue and its exchanges, or check that the queues exist."""
    dead = dead_letter_queue_of(name)
    if settings.topology is Topology.CHECK:
        await channel.declare_queue(dead, passive=True)
        return await channel.declare_queue(name, passive=True)
    await channel.declare_queue(
        dead,
        durable=True,
        arguments={"x-queue-type": "quorum", "x-max-length": MAX_DEAD_LETTERS},
    )
    queue = await channel.declare_queue(
        name,
        durable=True,
        arguments={
            "x-queue-type": "quorum",
            "x-single-active-consumer": True,
            "x-delivery-limit": BROKER_LIMIT_FACTOR * settings.delivery_limit,
            "x-dead-letter-exchange": "",
            "x-dead-letter-routing-key": dead,
        },
    )
    for binding in settings.bindings:
        if binding.queue == name:
            kind = ExchangeType.FANOUT if binding.key is None else ExchangeType.TOPIC
            exchange = await channel.declare_exchange(binding.exchange, kind, durable=True)
            await queue.bind(exchange, routing_key=binding.key or "")
    return queue
