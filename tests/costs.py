"""Prints, at the end of a run of a whole tier, its slowest tests and what each folder cost."""

import resource
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.tiers import ALL

SLOWEST = 20
_CPU = "cpu_s"
_seconds: Counter[str] = Counter()
_cpu: Counter[str] = Counter()
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
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Let the last report of a test carry it to the main process."""
    report: pytest.TestReport = yield
    if call.when == "teardown":
        report.user_properties.append((_CPU, _cpu_seconds() - item.stash[_BEFORE]))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up a report, in the main process of a parallel run."""
    _seconds[report.nodeid] += report.duration
    if report.when == "teardown":
        folder = "/".join(report.nodeid.split("/")[:2])
        _cases[folder] += 1
        _cpu[folder] += dict(report.user_properties).get(_CPU, 0.0)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the sums."""
    if config.option.tier == ALL:
        return
    terminalreporter.section(f"slowest {SLOWEST} tests")
    for nodeid, seconds in _seconds.most_common(SLOWEST):
        terminalreporter.line(f"{seconds:8.1f} s  {nodeid}")
    terminalreporter.section("CPU time of the tests in each folder, without PostgreSQL")
    for folder, seconds in _cpu.most_common():
        terminalreporter.line(f"{seconds:8.1f} s  {_cases[folder]:6} cases  {folder}")


def _cpu_seconds() -> float:
    own, ended = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


_BEFORE = pytest.StashKey[float]()
