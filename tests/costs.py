"""Prints, at the end of a run of a whole tier, its slowest tests and what each folder cost."""

import resource
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping

import pytest

from tests.tiers import ALL

SLOWEST = 20
_CPU = "cpu_s"
_seconds: defaultdict[str, float] = defaultdict(float)
_cpu: defaultdict[str, float] = defaultdict(float)
_cases: Counter[str] = Counter()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Measure the CPU time of this process and of those that a test started and ended.

    What the PostgreSQL of the run does is not in it.
    """
    before = _cpu_seconds()
    item.stash[_BEFORE] = before
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the last report of a test carry it to the main process."""
    report = yield
    if call.when == "teardown":
        report.user_properties.append((_CPU, _cpu_seconds() - item.stash[_BEFORE]))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up a report, in the main process of a parallel run."""
    _seconds[report.nodeid] += report.duration
    if report.when == "teardown":
        folder = "/".join(report.nodeid.split("/")[:2])
        _cases[folder] += 1
        _cpu[folder] += sum(
            value
            for name, value in report.user_properties
            if name == _CPU and isinstance(value, float)
        )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the sums."""
    if config.option.tier == ALL:
        return
    terminalreporter.section(f"slowest {SLOWEST} tests")
    for nodeid, seconds in _most(_seconds)[:SLOWEST]:
        terminalreporter.line(f"{seconds:8.1f} s  {nodeid}")
    terminalreporter.section("CPU time of the tests in each folder, without PostgreSQL")
    for folder, seconds in _most(_cpu):
        terminalreporter.line(f"{seconds:8.1f} s  {_cases[folder]:6} cases  {folder}")


def _most(seconds: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(seconds.items(), key=lambda each: each[1], reverse=True)


def _cpu_seconds() -> float:
    own, ended = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


_BEFORE = pytest.StashKey[float]()
