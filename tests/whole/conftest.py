"""Shares one running `up` between tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scratch import lent
from tests.whole.running import Home, Up, up


def home_named(folder: Path, name: str) -> Home:
    """Return the path of a data folder inside another, which does not exist yet."""
    return Home(folder / "".join(char if char.isalnum() else "-" for char in name)[:60], {})


@pytest.fixture
def home(reachable_folder: Path, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A data folder for one test."""
    own = home_named(reachable_folder, request.node.name)
    with lent(own.data):
        yield own


@pytest.fixture(scope="module")
def shared_home(reachable_folder: Path, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A data folder for the tests of one file."""
    own = home_named(reachable_folder, request.node.name)
    with lent(own.data):
        yield own


@pytest.fixture(scope="session")
def shared_up(reachable_folder: Path) -> Iterator[Up]:
    """One running `up` with two workers, for tests that only use their own mail."""
    with up(home_named(reachable_folder, "shared up"), "--workers", "2") as running:
        yield running
