"""Metrics of worker processes, served by their parent where a port is set."""

from contextlib import AbstractAsyncContextManager, nullcontext

from mailqueue.cli.support.loading import load_module
from mailqueue.settings.environment import Settings


def worker_metrics(settings: Settings) -> AbstractAsyncContextManager[str | None]:
    """Return a block in which metrics are served; without a port the HTTP server is not loaded."""
    if settings.metrics.port is None:
        return nullcontext()
    serving = load_module("mailqueue.api.metrics.serving")
    served: AbstractAsyncContextManager[str | None] = serving.metrics_beside(settings)
    return served
