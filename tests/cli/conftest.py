"""The command line on a fresh database."""

from pathlib import Path

import pytest

from tests.cli.sending.mailing import Folder
from tests.cli.support.invoked import Cli


@pytest.fixture
def on_fresh_db(fresh_db: str, tmp_path: Path) -> Cli:
    return Cli(fresh_db, tmp_path)


@pytest.fixture
def on_shared_db(shared_db: str, tmp_path: Path) -> Cli:
    """For commands that leave nothing in the database."""
    return Cli(shared_db, tmp_path)


@pytest.fixture
def folder(on_fresh_db: Cli, tmp_path: Path) -> Folder:
    return Folder(on_fresh_db, tmp_path)


@pytest.fixture
def idle_folder(on_shared_db: Cli, tmp_path: Path) -> Folder:
    """For files of which nothing is queued."""
    return Folder(on_shared_db, tmp_path)
