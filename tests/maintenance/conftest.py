"""A maintenance context on a database of one test, with an archive in a folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.tasks import open_context
from mailqueue.settings.archive import ArchiveSettings
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.files import ArchiveStores


@pytest.fixture
def warm(tmp_path: Path) -> Path:
    return tmp_path / "an archive"


@pytest.fixture
def cold(tmp_path: Path) -> Path:
    return tmp_path / "cold"


@pytest.fixture
def stores(warm: Path, cold: Path) -> ArchiveStores:
    return ArchiveStores(ArchiveSettings(warm.as_uri(), cold.as_uri()))


@pytest.fixture
async def desk(
    database: DatabaseSettings, stores: ArchiveStores
) -> AsyncIterator[MaintenanceContext]:
    async with open_context(database, stores, operator="test", advance=lambda _: None) as opened:
        yield opened
