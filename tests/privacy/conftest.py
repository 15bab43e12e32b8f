"""A maintenance context on a database of one test, with an archive in a folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mailqueue.maintenance.context import MaintenanceContext
from mailqueue.maintenance.tasks import open_context
from mailqueue.settings.archive import ArchiveSettings
from mailqueue.settings.attachments import AttachmentSettings
from mailqueue.settings.environment import DatabaseSettings
from mailqueue.wiring.files import ArchiveStores


@pytest.fixture
def warm(tmp_path: Path) -> Path:
    return tmp_path / "archive"


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return tmp_path / "files"


@pytest.fixture
async def desk(
    database: DatabaseSettings, warm: Path, shelf: Path
) -> AsyncIterator[MaintenanceContext]:
    stores = ArchiveStores(
        ArchiveSettings(warm.as_uri(), None),
        AttachmentSettings(places=(shelf.as_uri(),), over_bytes=100),
    )
    async with open_context(database, stores, operator="test", advance=lambda _: None) as opened:
        yield opened
