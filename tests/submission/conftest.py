"""A database, keys of it and a running submission server, for all tests of one file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mailqueue.core.secret import Secret
from mailqueue.db.fetch import Conn
from mailqueue.db.pool import connect
from mailqueue.settings.environment import DatabaseSettings
from tests.submission.programs import RunningSubmission, running


@pytest.fixture(scope="module")
async def database(module_db: str) -> AsyncIterator[Conn]:
    """A connection to the database of this file, for reading."""
    async with connect(DatabaseSettings(Secret(module_db)), application_name="test") as opened:
        yield opened


@pytest.fixture(scope="module")
async def smtp(
    module_db: str, database: Conn, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningSubmission]:
    """A submission server with both its ports."""
    folder: Path = tmp_path_factory.mktemp("submission")
    async with running(module_db, database, folder) as started:
        yield started
