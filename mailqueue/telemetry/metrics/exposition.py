"""Shows metrics in the format of Prometheus."""

from collections.abc import Iterable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, disable_created_metrics
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import (
    Metric as Family,
)
from prometheus_client.registry import Collector

from mailqueue.telemetry.metrics.declared import METRICS
from mailqueue.telemetry.metrics.memory import MEMORY, MetricMemory, values_of

REGISTRY = CollectorRegistry(auto_describe=False)
"""What a process shows: the counters of its children, and metrics of its own."""


class ProcessCollector(Collector):
    """Collects METRICS from the memory of a process and its children."""

    def __init__(self, memory: MetricMemory = MEMORY) -> None:
        self._memory = memory

    def collect(self) -> Iterator[Family]:
        """Yield each metric with all its series."""
        totals = self._memory.totals()
        for metric in METRICS:
            family: CounterMetricFamily | HistogramMetricFamily
            if not metric.bounds:
                family = CounterMetricFamily(metric.name, metric.help, labels=list(metric.labels))
                for labels in metric.series:
                    (count,) = values_of(metric, labels, totals)
                    family.add_metric(labels, count)
                yield family
                continue
            family = HistogramMetricFamily(metric.name, metric.help, labels=list(metric.labels))
            bounds = [*map(str, metric.bounds), "+Inf"]
            for labels in metric.series:
                *counts, total = values_of(metric, labels, totals)
                family.add_metric(labels, list(zip(bounds, accumulate(counts), strict=True)), total)
            yield family


REGISTRY.register(ProcessCollector())
# Each histogram would have a further series with the time of its creation.
disable_created_metrics()  # type: ignore[no-untyped-call]


class FamiliesCollector(Collector):
    """Collects families that were made before, such as those of the database."""

    def __init__(self, families: Iterable[Family]) -> None:
        self._families = list(families)

    def collect(self) -> Iterable[Family]:
        """Return the families."""
        return self._families


def shown(registry: Collector, accept: str) -> tuple[bytes, str]:
    """Return the text of a registry and its content type, in the format that a client accepts."""
    if not isinstance(registry, CollectorRegistry):
        single = CollectorRegistry(auto_describe=False)
        single.register(registry)
        registry = single
    encoder, content_type = choose_encoder(accept)
    return encoder(registry), content_type
