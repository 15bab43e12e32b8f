"""One durable server for all scenarios of this folder."""

from collections.abc import Iterator

import pytest

from tests.chaos.server import reachable_folder, shipped_in
from tests.concurrency.running import Shipped


@pytest.fixture(scope="session")
def killable(request: pytest.FixtureRequest) -> Iterator[Shipped]:
    """A server with durable settings, which scenarios may kill."""
    major = request.config.getoption("--server-version")
    with reachable_folder() as folder, shipped_in(folder / "server", major=major) as server:
        yield server
