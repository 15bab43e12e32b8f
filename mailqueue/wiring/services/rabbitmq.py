"""The listener that takes events from RabbitMQ."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.wiring import bridge as wired
from mailqueue.wiring.services.running import ListeningService, ServiceContext


@asynccontextmanager
async def bridge(context: ServiceContext) -> AsyncIterator[ListeningService | None]:
    """Take events from queues of RabbitMQ; in `up` only if there are any.

    Raises:
        ConfigError: a setting or the package is missing.
    """
    settings = context.settings
    if context.is_in_up and not settings.rabbitmq.queues:
        yield None
        return
    stop, ready = asyncio.Event(), asyncio.Event()
    work = asyncio.create_task(
        wired.run(settings, context.pool, stop, ready=ready.set), name="rabbitmq"
    )
    begun = asyncio.create_task(ready.wait())
    await asyncio.wait({work, begun}, return_when=asyncio.FIRST_COMPLETED)
    begun.cancel()
    if not context.is_in_up:  # without its work the process ends
        work.add_done_callback(lambda _: context.stop.set())
    try:
        if work.done():
            work.result()
        yield ListeningService(is_running=lambda: not work.done())
    finally:
        stop.set()
        await work
