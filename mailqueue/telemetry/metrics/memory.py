"""Counts metrics in an array of numbers. A worker process counts in memory that its parent shares,
so that what it counted outlives it, and one port shows the sum of all processes of a host.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mailqueue.telemetry.metrics.declared import METRICS, Metric

_PLACE_BY_SERIES: dict[tuple[Metric, tuple[str, ...]], int] = {}
_place = 0
for _metric in METRICS:
    for _series in _metric.series:
        _PLACE_BY_SERIES[_metric, _series] = _place
        _place += _metric.places

SIZE = _place
"""Numbers of all series."""
BYTES = SIZE * 8

ReadCounts = Callable[[], Sequence[float]]
"""Reads the numbers of a running child."""


class MetricMemory:
    """The numbers of this process, of children that ended, and of running children.

    A counter has one number; a histogram has one for each bucket, one for larger values, and a sum.
    """

    def __init__(self) -> None:
        self.numbers = memoryview(bytearray(BYTES)).cast("d")
        self._ended = array("d", bytes(BYTES))
        self._running = set[ReadCounts]()

    def record(self, metric: Metric, value: float, *labels: str) -> None:
        """Add to a counter, or add a value to a histogram; undeclared series are not counted."""
        place = _PLACE_BY_SERIES.get((metric, labels))
        if place is None:
            return
        if metric.bounds:
            self.numbers[place + bisect_left(metric.bounds, value)] += 1
            place += len(metric.bounds) + 1
        self.numbers[place] += value

    def count_in(self, memory: memoryview) -> None:
        """Count in this memory from now on: that of a child, which its parent reads."""
        self.numbers = memory.cast("d")

    @contextmanager
    def following(self, read: ReadCounts) -> Iterator[None]:
        """Include a child while the block runs, and afterwards what it had counted at its end."""
        self._running.add(read)
        try:
            yield
        finally:
            self._running.remove(read)
            self._ended = array("d", map(sum, zip(self._ended, read(), strict=True)))

    def totals(self) -> list[float]:
        """Return the sum over this process and its children, running or ended."""
        parts = [self.numbers, self._ended, *(read() for read in list(self._running))]
        return [sum(numbers) for numbers in zip(*parts, strict=True)]


def place_of(metric: Metric, *labels: str) -> int:
    """Return the place of the first number of a series."""
    return _PLACE_BY_SERIES[metric, labels]


def values_of(metric: Metric, labels: tuple[str, ...], totals: Sequence[float]) -> Sequence[float]:
    """Return the numbers of one series: a count, or counts of buckets and the sum. Pure."""
    place = _PLACE_BY_SERIES[metric, labels]
    return totals[place : place + metric.places]


MEMORY = MetricMemory()
"""Where this process counts."""
