"""Data folders, and one running `up` that tests share."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from mailqueue.embedded.service_user import Account
from tests.scratch import lent
from tests.whole.prepared import copied, prepared
from tests.whole.running import Home, Up, up

LendHome = Callable[[str], AbstractContextManager[Home]]
"""Lends a data folder with a migrated database, by a name."""


def home_named(folder: Path, name: str) -> Home:
    """Return the path of a data folder inside another, which does not exist yet."""
    return Home(folder / "".join(char if char.isalnum() else "-" for char in name)[:60], {})


@pytest.fixture(scope="session")
def lend_home(
    reachable_folder: Path, service_user: Account, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LendHome]:
    """What copies a data folder that all processes of the run share."""
    base = tmp_path_factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with prepared(reachable_folder, run / "prepared") as source:

        @contextmanager
        def lend(name: str) -> Iterator[Home]:
            own = home_named(reachable_folder, name)
            with lent(own.data):
                copied(source, own.data, service_user)
                yield own

        yield lend


@pytest.fixture
def new_home(reachable_folder: Path, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A data folder for one test, which does not exist yet."""
    own = home_named(reachable_folder, request.node.name)
    with lent(own.data):
        yield own


@pytest.fixture
def home(lend_home: LendHome, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A data folder for one test."""
    with lend_home(request.node.name) as own:
        yield own


@pytest.fixture(scope="module")
def shared_home(lend_home: LendHome, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A data folder for the tests of one file."""
    with lend_home(request.node.name) as own:
        yield own


@pytest.fixture(scope="session")
def shared_up(lend_home: LendHome) -> Iterator[Up]:
    """One running `up` with two workers, for tests that only use their own mail.

    The console and links in mail have ports of their own.
    """
    ports = ("--console-port", "0", "--public-port", "0")
    with lend_home("shared up") as own, up(own, "--workers", "2", *ports) as running:
        yield running
