"""The application of the metrics port.

`/metrics` shows what this process and its children counted, `/metrics/database` the figures of the
database, which are the same at every process of an installation: scrape them once.
"""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from mailqueue.api.http.health import alive
from mailqueue.db.link import Link
from mailqueue.db.pool import Pool
from mailqueue.operations.gauges import read_gauges
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.smtp.server.certificate_end import end_of
from mailqueue.telemetry.log import get_logger
from mailqueue.telemetry.metrics.exposition import REGISTRY, FamiliesCollector, shown
from mailqueue.telemetry.metrics.gauges import families_of

READ_SECONDS = 5.0
"""Limit of reading the figures of the database."""
FRESH_SECONDS = 5.0
"""Age up to which figures that were read are shown again."""

log = get_logger(__name__)


class DatabaseFigures:
    """The figures of the database, read for one scrape at a time."""

    def __init__(self, database: DatabaseSettings) -> None:
        self._link = Link(database, "mailqueue/metrics")
        self._turn = asyncio.Lock()
        self._families: list[GaugeMetricFamily] = []
        self._read_at: float | None = None

    async def families(self) -> list[GaugeMetricFamily]:
        """Return the figures, at most FRESH_SECONDS old.

        Raises:
            TimeoutError: the database did not answer in time.
        """
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(READ_SECONDS), self._turn:
            if self._read_at is None or loop.time() - self._read_at > FRESH_SECONDS:
                self._families = families_of(await self._link.call(read_gauges))
                self._read_at = loop.time()
        return self._families

    async def close(self) -> None:
        """Close the connection."""
        await self._link.close()


class PoolCollector(Collector):
    """Shows a pool of connections."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def collect(self) -> Iterable[Metric]:
        """Return the connections of the pool and the requests that wait for one."""
        stats = self._pool.get_stats()
        family = GaugeMetricFamily(
            "mailqueue_pool_connections", "Connections of the pool.", labels=["state"]
        )
        size, idle = stats.get("pool_size", 0), stats.get("pool_available", 0)
        family.add_metric(["idle"], idle)
        family.add_metric(["used"], size - idle)
        return [
            family,
            GaugeMetricFamily(
                "mailqueue_pool_waiting",
                "Requests that wait for a connection.",
                value=stats.get("requests_waiting", 0),
            ),
        ]


class CertificateCollector(Collector):
    """Shows when the configured certificate of SMTP submission ends, read at each scrape."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def collect(self) -> Iterable[Metric]:
        """Return the end; 0, which is long over, where the file has no certificate."""
        try:
            end = end_of(self._file).timestamp()
        except (OSError, ValueError):
            end = 0.0
        family = GaugeMetricFamily(
            "mailqueue_certificate_expiry_timestamp_seconds",
            "When the certificate of a server ends.",
            labels=["name"],
        )
        family.add_metric(["submission"], end)
        return [family]


def metrics_app(figures: DatabaseFigures) -> Starlette:
    """Return the application."""

    async def process(request: Request) -> Response:
        return _response(*shown(REGISTRY, request.headers.get("accept", "")))

    async def database(request: Request) -> Response:
        try:
            families = await figures.families()
        except Exception as exc:
            log.warning("metrics.database_not_read", error=f"{type(exc).__name__}: {exc}"[:200])
            return PlainTextResponse("the database did not answer\n", status_code=503)
        return _response(*shown(FamiliesCollector(families), request.headers.get("accept", "")))

    return Starlette(
        routes=[
            Route("/livez", alive),
            Route("/metrics", process),
            Route("/metrics/database", database),
        ],
    )


def _response(body: bytes, content_type: str) -> Response:
    return Response(body, headers={"content-type": content_type})
