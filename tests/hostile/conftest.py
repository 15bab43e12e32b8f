"""The command line on a fresh database."""

from pathlib import Path

import pytest

from tests.cli.support.invoked import Cli


@pytest.fixture
def on_fresh_db(fresh_db: str, tmp_path: Path) -> Cli:
    return Cli(fresh_db, tmp_path)
