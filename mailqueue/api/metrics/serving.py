"""Serves metrics beside what a process does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from prometheus_client.registry import Collector

from mailqueue.api.http.server import bind, listening
from mailqueue.api.metrics.app import (
    CertificateCollector,
    DatabaseFigures,
    PoolCollector,
    metrics_app,
)
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
    collectors = [*_of_pool(pool), *_of_certificate(settings)]
    with bind(given.host, given.port, option="MAILQUEUE_METRICS_PORT") as sock:
        for collector in collectors:
            REGISTRY.register(collector)
        try:
            async with listening(metrics_app(figures), sock) as url:
                yield f"{url}/metrics"
        finally:
            await figures.close()
            for collector in collectors:
                REGISTRY.unregister(collector)


def _of_pool(pool: Pool | None) -> list[Collector]:
    return [] if pool is None else [PoolCollector(pool)]


def _of_certificate(settings: Settings) -> list[Collector]:
    file = settings.submission.certificate
    return [] if file is None else [CertificateCollector(file)]
