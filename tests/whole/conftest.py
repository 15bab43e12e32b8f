"""Shares one running `up` between tests, and says what this machine could not try."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.whole.machine import NEEDS
from tests.whole.running import Home, Up, up

SOAK = "soak"
_HERE = Path(__file__).parent
_LEFT_OUT = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{SOAK}: long; runs only with -m {SOAK}")
    for name in NEEDS:
        config.addinivalue_line("markers", f"{name}: runs where the machine has it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what cannot run here, and say so at the end instead of passing over it."""
    reasons = {
        item: why
        for item in items
        if _HERE in item.path.parents and (why := _why_not(config, item)) is not None
    }
    config.stash[_LEFT_OUT] = [f"{item.nodeid}: {why}" for item, why in reasons.items()]
    if reasons:
        config.hook.pytest_deselected(items=list(reasons))
        items[:] = [item for item in items if item not in reasons]


def _why_not(config: pytest.Config, item: pytest.Item) -> str | None:
    if item.get_closest_marker(SOAK) and SOAK not in config.getoption("markexpr"):
        return f"long, runs with -m {SOAK}"
    asked = (need() for name, need in NEEDS.items() if item.get_closest_marker(name))
    return next((why for why in asked if why is not None), None)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left_out = config.stash.get(_LEFT_OUT, [])
    if left_out:
        terminalreporter.section("left out on this machine")
        for line in left_out:
            terminalreporter.line(line)


def home_named(folder: Path, name: str) -> Home:
    """Give a data folder below another, not made yet."""
    return Home(folder / "".join(char if char.isalnum() else "-" for char in name)[:60], {})


@pytest.fixture
def home(reachable_folder: Path, request: pytest.FixtureRequest) -> Home:
    """A data folder of a test's own."""
    return home_named(reachable_folder, request.node.name)


@pytest.fixture(scope="module")
def shared_home(reachable_folder: Path, request: pytest.FixtureRequest) -> Home:
    """A data folder of one file of tests."""
    return home_named(reachable_folder, request.node.name)


@pytest.fixture(scope="session")
def shared_up(reachable_folder: Path) -> Iterator[Up]:
    """One running `up` with two workers, for tests that leave others' mail alone."""
    with up(home_named(reachable_folder, "shared up"), "--workers", "2") as running:
        yield running
