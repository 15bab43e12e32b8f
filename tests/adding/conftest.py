"""Lends each test a copy of the checkout, whose tests run on the server of this run."""

from pathlib import Path

import pytest

from tests.adding.copied import Copy
from tests.conftest import Server


@pytest.fixture
def copy(tmp_path: Path, bare_server: Server) -> Copy:
    """Return a copy of the checkout."""
    return Copy(tmp_path, bare_server.superuser)
