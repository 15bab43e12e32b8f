"""Prints, at the end of a run of a whole tier, its slowest tests and what each folder cost."""

import resource
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager

import pytest

from tests.tiers import ALL

SLOWEST = 20
_CPU, _SERVER_CPU = "cpu_s", "server_cpu_s"
_seconds: defaultdict[str, float] = defaultdict(float)
_cpu: defaultdict[str, float] = defaultdict(float)
_cases: Counter[str] = Counter()
_ended_servers: list[float] = []
"""CPU seconds of each server that this process has ended."""


@contextmanager
def ending_server() -> Iterator[None]:
    """Count processes that end in this block as the server of the run.

    The last test of a process ends the server that all tests before it have used.
    """
    before = _ended_seconds()
    try:
        yield
    finally:
        _ended_servers.append(_ended_seconds() - before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Measure the CPU time of this process and of those that a test started and ended.

    What the PostgreSQL of the run does is not in it.
    """
    item.stash[_BEFORE] = _cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the last report of a test carry it to the main process."""
    report = yield
    if call.when == "teardown":
        report.user_properties.append((_CPU, _cpu_seconds() - item.stash[_BEFORE]))
        report.user_properties.append((_SERVER_CPU, sum(_ended_servers)))
        _ended_servers.clear()
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up a report, in the main process of a parallel run."""
    _seconds[report.nodeid] += report.duration
    if report.when == "teardown":
        folder = "/".join(report.nodeid.split("/")[:2])
        _cases[folder] += 1
        for name, value in report.user_properties:
            if isinstance(value, float) and name in (_CPU, _SERVER_CPU):
                _cpu[folder if name == _CPU else _SERVER_CPU] += value


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the sums."""
    if config.option.tier == ALL:
        return
    terminalreporter.section(f"slowest {SLOWEST} tests")
    for nodeid, seconds in _most(_seconds)[:SLOWEST]:
        terminalreporter.line(f"{seconds:8.1f} s  {nodeid}")
    server = _cpu.pop(_SERVER_CPU, 0.0)
    terminalreporter.section("CPU time of the tests in each folder, without PostgreSQL")
    terminalreporter.line(f"{sum(_cpu.values()):8.1f} s  {sum(_cases.values()):6} cases  in all")
    terminalreporter.line(f"{server:8.1f} s               PostgreSQL of the run")
    for folder, seconds in _most(_cpu):
        terminalreporter.line(f"{seconds:8.1f} s  {_cases[folder]:6} cases  {folder}")


def _most(seconds: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(seconds.items(), key=lambda each: each[1], reverse=True)


def _cpu_seconds() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime + _ended_seconds() - sum(_ended_servers)


def _ended_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


_BEFORE = pytest.StashKey[float]()
