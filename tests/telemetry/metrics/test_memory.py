"""Metrics in shared memory, compared with the counters and histograms of prometheus-client."""

import os
import random

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from mailqueue.queue.in_progress import InProgress
from mailqueue.telemetry.metrics.declared import (
    CLAIMS,
    METRICS,
    QUEUE_DURATION,
    SEND_DURATION,
    SEND_RESULTS,
    WORKER_DEATHS,
    Metric,
)
from mailqueue.telemetry.metrics.exposition import ProcessCollector, shown
from mailqueue.telemetry.metrics.memory import SIZE, MetricMemory


def lines(text: bytes, *names: str) -> set[str]:
    """Return the figures of some metrics."""
    return {
        line
        for line in text.decode().splitlines()
        if line.startswith(names) and not line.startswith("#") and "_created" not in line
    }


def text_of(memory: MetricMemory) -> bytes:
    return shown(ProcessCollector(memory), "")[0]


def test_what_is_recorded_is_shown_as_prometheus_client_shows_it() -> None:
    chance, memory, registry = random.Random(3), MetricMemory(), CollectorRegistry()
    duration = Histogram(
        SEND_DURATION.name, "…", buckets=list(SEND_DURATION.bounds), registry=registry
    )
    results = Counter(SEND_RESULTS.name, "…", ["result"], registry=registry)
    for word in SEND_RESULTS.labels["result"]:
        results.labels(word)
    values = [chance.expovariate(4) for _ in range(500)]
    for value in [*values, *SEND_DURATION.bounds, 0.0, 61.0]:
        memory.record(SEND_DURATION, value)
        duration.observe(value)
        word = chance.choice(list(SEND_RESULTS.labels["result"]))
        memory.record(SEND_RESULTS, 2, word)
        results.labels(word).inc(2)

    names = (SEND_DURATION.name, SEND_RESULTS.name)

    assert lines(text_of(memory), *names) == lines(generate_latest(registry), *names)


def test_a_scrape_shows_the_sum_of_running_and_ended_children() -> None:
    memory, first, second = MetricMemory(), [0.0] * SIZE, [0.0] * SIZE
    memory.record(WORKER_DEATHS, 1)

    with memory.following(lambda: first):
        with memory.following(lambda: second):
            first[-1], second[-1] = 5, 7
            assert memory.totals()[-1] == 12
        second[-1] = 100  # the next process of this place counts from zero again
        assert memory.totals()[-1] == 12

    assert memory.totals()[-1] == 12
    assert b"mailqueue_worker_deaths_total 1.0" in text_of(memory)


@pytest.mark.deep
def test_what_a_child_counted_outlives_its_death_by_kill_9() -> None:
    memory, in_progress = MetricMemory(), InProgress()
    in_progress.clear()
    try:
        with memory.following(in_progress.read_metrics):
            child = os.fork()
            if child == 0:
                counts = MetricMemory()
                counts.count_in(InProgress(os.dup(in_progress.fd)).metrics())
                counts.record(CLAIMS, 3, "webhooks")
                counts.record(QUEUE_DURATION, 0.2, "webhooks")
                os.kill(os.getpid(), 9)
            os.waitpid(child, 0)
        in_progress.clear()

        text = text_of(memory)

        assert b'mailqueue_claims_total{queue="webhooks"} 3.0' in text
        assert b'mailqueue_queue_handling_duration_seconds_count{queue="webhooks"} 1.0' in text
    finally:
        in_progress.close()


def test_rows_in_progress_and_metrics_have_places_apart() -> None:
    in_progress = InProgress()
    in_progress.clear()
    memory = MetricMemory()
    memory.count_in(in_progress.metrics())
    for metric in METRICS:
        for labels in metric.series:
            memory.record(metric, 1, *labels)

    assert in_progress.rows() == []
    assert sum(in_progress.read_metrics()) > 0


def test_a_series_that_is_not_declared_is_not_counted() -> None:
    memory = MetricMemory()

    memory.record(CLAIMS, 1, "a queue of another release")

    assert sum(memory.totals()) == 0


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_names_and_labels_follow_the_rules_of_prometheus(metric: Metric) -> None:
    assert metric.name.startswith("mailqueue_")
    assert not metric.name.endswith("_total")
    assert metric.help.endswith(".")
    assert len(metric.series) <= 200
    assert not set(metric.labels) & {"project", "email", "address", "recipient", "id"}
