"""The listener that exports traces to a collector."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.adapters.http.model import NetworkPolicy
from mailqueue.adapters.http.poster import HttpPoster
from mailqueue.core.errors import ConfigError
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import borrow
from mailqueue.settings.traces import TraceSettings, parse_headers
from mailqueue.traces.exporting import TraceExporter, TraceTarget
from mailqueue.wiring.services.running import ListeningService, ServiceContext


@asynccontextmanager
async def traces(context: ServiceContext) -> AsyncIterator[ListeningService | None]:
    """Export traces until the block ends; in `up` only if there is a collector.

    Raises:
        ConfigError: there is no collector.
    """
    settings, stop = context.settings, asyncio.Event()
    if context.is_in_up and settings.traces.url is None:
        yield None
        return
    target = target_of(settings.traces)

    @asynccontextmanager
    async def lend() -> AsyncIterator[Conn]:
        async with borrow(context.pool, settings.database) as conn:
            yield conn

    # The operator names the collector, which is usually on this host or in a private network.
    poster = HttpPoster(NetworkPolicy(allow_private=True))
    exporter = TraceExporter(lend, poster, target)
    work = asyncio.create_task(exporter.run(stop), name="traces")
    if not context.is_in_up:  # without its work the process ends
        work.add_done_callback(lambda _: context.stop.set())
    try:
        yield ListeningService(is_running=lambda: not work.done())
    finally:
        stop.set()
        await work


def target_of(settings: TraceSettings) -> TraceTarget:
    """Return the collector that the settings name.

    Raises:
        ConfigError: there is none.
    """
    if settings.url is None:
        raise ConfigError("MAILQUEUE_TRACES_URL: required, such as http://127.0.0.1:4318/v1/traces")
    headers = () if settings.headers is None else parse_headers(settings.headers.reveal())
    return TraceTarget(settings.url, headers, settings.ratio)
