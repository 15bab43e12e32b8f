"""A maintenance context on a database of one test, which knows a master key."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.tasks import open_context
from mailqueue.settings.archive import ArchiveSettings
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.files import ArchiveStores
from tests.vault.sealed import FIRST


@pytest.fixture
async def context(database: DatabaseSettings, tmp_path: Path) -> AsyncIterator[MaintenanceContext]:
    stores = ArchiveStores(ArchiveSettings((tmp_path / "archive").as_uri(), None))
    opened = open_context(
        database, stores, operator="tests", advance=lambda _: None, master_key=lambda: FIRST
    )
    async with opened as context:
        yield context
