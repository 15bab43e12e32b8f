"""Shares one running `up` between tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scratch import lent
from tests.whole.running import Home, Up, up


def home_named(folder: Path, name: str) -> Home:
    """Return a data folder below another, not made yet."""
    return Home(folder / "".join(char if char.isalnum() else "-" for char in name)[:60], {})


@pytest.fixture
def home(reachable_folder: Path, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A data folder of a test's own."""
    own = home_named(reachable_folder, request.node.name)
    with lent(own.data):
        yield own


@pytest.fixture(scope="module")
def shared_home(reachable_folder: Path, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A data folder of one file of tests."""
    own = home_named(reachable_folder, request.node.name)
    with lent(own.data):
        yield own


@pytest.fixture(scope="session")
def shared_up(reachable_folder: Path) -> Iterator[Up]:
    """One running `up` with two workers, for tests that leave others' mail alone."""
    with up(home_named(reachable_folder, "shared up"), "--workers", "2") as running:
        yield running
