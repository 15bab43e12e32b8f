"""A copy of the checkout for each test of a guide."""

from pathlib import Path

import pytest

from tests.adding.copied import Copy
from tests.conftest import Server


@pytest.fixture
def copy(tmp_path: Path, bare_server: Server, migrated: str) -> Copy:
    """Return a copy of the checkout as it is."""
    return Copy(tmp_path, bare_server.superuser, migrated)
