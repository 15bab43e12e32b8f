"""Serves metrics beside what a process does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mailqueue.api.http.server import bind, listening
from mailqueue.api.metrics.app import DatabaseFigures, PoolCollector, metrics_app
from mailqueue.db.pool import Pool
from mailqueue.settings.environment import Settings
from mailqueue.telemetry.metrics.exposition import REGISTRY


@asynccontextmanager
async def metrics_beside(
    settings: Settings, *, pool: Pool | None = None
) -> AsyncIterator[str | None]:
    """Serve metrics while the block runs; yield their URL, None where no port is set.

    Raises:
        ConfigError: the port is in use, or the host is not local.
    """
    given = settings.metrics
    if given.port is None:
        yield None
        return
    figures = DatabaseFigures(settings.database)
    collector = None if pool is None else PoolCollector(pool)
    with bind(given.host, given.port, option="MAILQUEUE_METRICS_PORT") as sock:
        if collector is not None:
            REGISTRY.register(collector)
        try:
            async with listening(metrics_app(figures), sock) as url:
                yield f"{url}/metrics"
        finally:
            await figures.close()
            if collector is not None:
                REGISTRY.unregister(collector)
