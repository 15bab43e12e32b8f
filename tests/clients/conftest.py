"""One server a file of tests."""

from collections.abc import Iterator

import pytest

from tests.clients.serving import Served, served


@pytest.fixture(scope="module")
def site(module_db: str) -> Iterator[Served]:
    """The API on a real socket, with a database that the tests of one file share."""
    with served(module_db) as running:
        yield running
