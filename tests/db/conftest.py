"""An empty database, and a small schema of its own."""

from pathlib import Path

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.sql import sql_folder
from mailqueue.settings.environment import DatabaseSettings

FIRST = "CREATE TABLE mailqueue.a (n integer); INSERT INTO mailqueue.a VALUES (1);"


@pytest.fixture
def empty(empty_db: str) -> DatabaseSettings:
    return DatabaseSettings(Secret(empty_db))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bootstrap.sql").write_text((sql_folder() / "bootstrap.sql").read_text())
    for name in ("migrations", "functions", "views", "grants"):
        (tmp_path / name).mkdir()
    (tmp_path / "migrations" / "0001_first.sql").write_text(FIRST)
    return tmp_path
